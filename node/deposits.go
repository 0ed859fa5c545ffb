package node

import (
	"skep/grid"
	"skep/node/deposit"
)

// Deposits: what the files of a job with a register, stored by its members (package deposit), mean for the job.

// followDeposits makes the jobs follow the changes of their deposits, in the order of these.
func (n *Node) followDeposits(fx *grid.Effects) {
	for c, ok := n.deposits.NextChange(); ok; c, ok = n.deposits.NextChange() {
		j := n.jobs.Get(c.Of.Job())
		switch c.Kind {
		case deposit.Evicted:
			n.archive.remove(n.cfg.Self, n.archive.find(j.id))
			n.forgetJob(j, fx)
		case deposit.InputsStored:
			n.notePayer(j)
			j.replica.InputsHeld = true
			n.replicas.Save(j.replica.Replica, fx)
		case deposit.OutputStored:
			n.notePayer(j)
			n.saveEntry(j, c.Index, fx)
		case deposit.ResultAdded:
			n.rechargeJob(j)
		}
	}
}

// notePayer has the node that is charged for a job's files known as one that shares registers with this one.
func (n *Node) notePayer(j *job) {
	if payer := j.replica.files.Payer(); !payer.IsZero() {
		n.replicas.Note(payer)
	}
}

// outputStored records that a result's files are stored here.
func (n *Node) outputStored(j *job, i uint32, a grid.Attempt, r *grid.Result) {
	n.deposits.OutputStored(&j.replica.files, i, a, r)
	n.notePayer(j)
	n.rechargeJob(j)
}

// matchDeposit aligns a task's deposit with its end in the register.
func (n *Node) matchDeposit(j *job, i uint32, fx *grid.Effects) {
	n.deposits.Match(&j.replica.files, i, fx)
	n.followDeposits(fx)
}

// depositAsked handles the request of a job's owner to store files.
func (n *Node) depositAsked(from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	id, full := m.Attempts[0], false
	j := n.job(id.Task.Job)
	if j == nil || j.replica == nil || j.ownerKnown() != from || j.replica.IsOwner() || j.replica.State().Done || id.Task.Index >= j.spec.Count {
		n.stats.Stale++
		return
	}
	if id != deposit.InputsID(j.id) {
		if m.Result == nil {
			n.stats.Stale++
			return
		}
		full = n.ledger.AdmitMore(j.id, resultBytes(m.Result)) != ""
	}
	n.deposits.Asked(&j.replica.files, from, id, m.Result, full, fx)
	n.followDeposits(fx)
}

// depositFetched continues after a fetch has succeeded or failed.
func (n *Node) depositFetched(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	j := n.job(ev.Attempt.Task.Job)
	if j == nil || j.replica == nil || ev.Attempt.Task.Index >= j.spec.Count {
		n.deposits.Fetched(nil, ev.Attempt, ev.Err, fx)
		return
	}
	refusal, toSelf := n.deposits.Fetched(&j.replica.files, ev.Attempt, ev.Err, fx)
	n.followDeposits(fx)
	if toSelf && j.replica.inputs != nil {
		j.replica.inputs.answer(j.replica.Place(n.cfg.Self), n.cfg.Self, refusal)
		n.confirmSubmission(now, j, fx)
	}
}

// sortArchive orders the archive, and the deposits of its jobs, by the jobs' ends, after a restart.
func (n *Node) sortArchive() {
	n.archive.sort()
	n.deposits.Reorder(func(yield func(*deposit.Files) bool) {
		for i := range n.archive.all() {
			if j := n.archive.at(i).open; j != nil && j.replica != nil && !yield(&j.replica.files) {
				return
			}
		}
	})
}
