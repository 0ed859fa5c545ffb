package node

import (
	"slices"

	"skep/grid"
)

// transfer is files on their way here for a job that was submitted elsewhere. They take room until they have come, or have
// not: also when the job is forgotten meanwhile, or another attempt's files are wanted, for nobody stops them.
type transfer struct {
	payer grid.NodeID // whom the room is charged to
	files []grid.File
}

// fetchDeposit has files come here; it says why if they cannot now. What is on its way already is waited for.
func (n *Node) fetchDeposit(j *job, id grid.AttemptID, from grid.NodeID, files []grid.File, fx *grid.Effects) grid.Refusal {
	if a, ok := n.transfers[id]; ok {
		if !slices.Equal(a.files, files) { // by one who names others than before
			return grid.Refusal{Why: grid.WhyQueue}
		}
		return grid.Refusal{}
	}
	if no := n.depositRoom(j, files, fx); no.Why != grid.WhyNone {
		return no
	}
	if j.id.Origin != n.cfg.Self {
		n.reserveTransfer(id, transfer{payer: j.chargedTo(), files: files})
	}
	fx.Fetches = append(fx.Fetches, grid.Fetch{Attempt: id, From: from, Others: j.replica.reg.Members(), Files: files, Deposit: true})
	return grid.Refusal{}
}

// reserveTransfer takes room for what is to come.
func (n *Node) reserveTransfer(id grid.AttemptID, a transfer) {
	if n.transfers == nil {
		n.transfers = make(map[grid.AttemptID]transfer)
	}
	n.transfers[id] = a
	size, p := diskBytes(a.files), n.coMember(a.payer)
	p.fetching++
	p.deposited += size
	n.deposited += size
}

// releaseTransfer gives that room back; what is kept of it is charged to its job.
func (n *Node) releaseTransfer(id grid.AttemptID) {
	a, ok := n.transfers[id]
	if !ok {
		return
	}
	delete(n.transfers, id)
	size, p := diskBytes(a.files), n.coMember(a.payer)
	p.fetching--
	p.deposited -= size
	n.deposited -= size
}
