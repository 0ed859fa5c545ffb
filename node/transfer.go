package node

import (
	"slices"

	"skep/grid"
)

// transfer is files under way to this node for a job submitted elsewhere. They are charged until the fetch ends, even
// if the job is forgotten meanwhile or another attempt's files are wanted: a fetch is never stopped.
type transfer struct {
	payer grid.NodeID // the node whose quota is charged
	files []grid.File
}

// fetchDeposit fetches files to deposit here; it returns why that is impossible now. A fetch already under way is not
// repeated.
func (n *Node) fetchDeposit(j *job, id grid.AttemptID, from grid.NodeID, files []grid.File, fx *grid.Effects) grid.Refusal {
	if running, ok := n.transfers[id]; ok {
		if !slices.Equal(running.files, files) { // the sender names other files than before
			return grid.Refusal{Why: grid.WhyQueue}
		}
		return grid.Refusal{}
	}
	if refusal := n.depositRoom(j, files, fx); refusal.Why != grid.WhyNone {
		return refusal
	}
	if j.id.Origin != n.cfg.Self {
		n.reserveTransfer(id, transfer{payer: j.chargedTo(), files: files})
	}
	fx.Fetches = append(fx.Fetches, grid.Fetch{Attempt: id, From: from, Others: j.replica.Members(), Files: files, Deposit: true})
	return grid.Refusal{}
}

// reserveTransfer charges the files to come.
func (n *Node) reserveTransfer(id grid.AttemptID, t transfer) {
	if n.transfers == nil {
		n.transfers = make(map[grid.AttemptID]transfer)
	}
	n.transfers[id] = t
	size, p := diskBytes(t.files), n.accounts.of(t.payer)
	p.fetching++
	p.deposited += size
	n.deposited += size
}

// releaseTransfer ends that charge; deposited files are charged to their job.
func (n *Node) releaseTransfer(id grid.AttemptID) {
	t, ok := n.transfers[id]
	if !ok {
		return
	}
	delete(n.transfers, id)
	size, p := diskBytes(t.files), n.accounts.of(t.payer)
	p.fetching--
	p.deposited -= size
	n.deposited -= size
	n.accounts.settle(p)
}
