package node

import (
	"skep/grid"
	"skep/node/deposit"
	"skep/node/quota"
)

// Deposits: what the files of a job with a register, stored by its members (package deposit), mean for the job.

// followDeposits makes the jobs follow the changes of their deposits, in the order of these.
func (n *Node) followDeposits(fx *grid.Effects) {
	for c, ok := n.deposits.NextChange(); ok; c, ok = n.deposits.NextChange() {
		j := n.jobs.Get(c.Of.Job())
		switch c.Kind {
		case deposit.Evicted:
			n.archive.remove(n.cfg.Self, n.archive.find(j.id))
			n.buryJob(j, fx)
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

// matchDeposit aligns a task's deposit with its end in the register.
func (n *Node) matchDeposit(j *job, i uint32, fx *grid.Effects) {
	if j.replica.Sole() {
		return
	}
	n.deposits.Match(&j.replica.files, i, fx)
	n.followDeposits(fx)
}

// depositAsked handles the request of a job's owner to store files.
func (n *Node) depositAsked(from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	id, full := m.Attempts[0], false
	j := n.job(id.Task.Job)
	if j == nil || j.ownerKnown() != from || j.replica.IsOwner() || j.replica.State().Done || id.Task.Index >= j.spec.Count {
		n.stats.Stale++
		return
	}
	if id != deposit.InputsID(j.id) {
		if m.Result == nil {
			n.stats.Stale++
			return
		}
		full = n.ledger.AdmitMore(j.id, quota.ResultBytes(m.Result)) != ""
	}
	n.deposits.Asked(&j.replica.files, from, id, m.Result, full, fx)
	n.followDeposits(fx)
}

// depositFetched continues after a fetch has succeeded or failed.
func (n *Node) depositFetched(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	j := n.job(ev.Attempt.Task.Job)
	if j == nil || ev.Attempt.Task.Index >= j.spec.Count {
		n.deposits.Fetched(nil, ev.Attempt, ev.Err, fx)
		return
	}
	ownInputs := n.deposits.Fetched(&j.replica.files, ev.Attempt, ev.Err, fx)
	n.followDeposits(fx)
	if ownInputs {
		n.confirmSubmission(now, j, fx)
	}
}

// replicateOutput has a result's files stored by a majority of the members, then records the task's end. The files are
// stored here already.
func (n *Node) replicateOutput(now grid.Time, l *liveTask, r *grid.Result, fx *grid.Effects) {
	j := l.job
	if j.replica.Sole() || len(r.Blobs(nil)) == 0 {
		n.recordResult(now, l, r, fx)
		return
	}
	r, waits := n.deposits.ReplicateOutput(now, &j.replica.files, l.id(), r, fx)
	n.notePayer(j)
	n.rechargeJob(j)
	if !waits {
		n.recordResult(now, l, r, fx)
		return
	}
	l.result = r
	n.saveEntry(j, l.index, fx)
	n.scheduleTick(now, fx)
}

// finishReplicated records a task's end if a majority has its files, or is no longer waited for.
func (n *Node) finishReplicated(now grid.Time, j *job, i uint32, fx *grid.Effects) {
	if r, finished := j.replica.files.Finish(now, i); finished {
		n.recordResult(now, j.task(i).live, r, fx)
	}
}

// tickDeposits repeats unanswered requests, and no longer waits for those whose deadline has passed.
func (n *Node) tickDeposits(now grid.Time, j *job, fx *grid.Effects) {
	n.askDeposits(now, j, fx)
	if !j.replica.IsOwner() {
		return
	}
	n.confirmSubmission(now, j, fx)
	for _, i := range j.replica.files.Replicating() {
		n.finishReplicated(now, j, i, fx)
	}
}

// askDeposits asks the members, as the owner of a job that is not closed, for the deposits that they have not
// confirmed.
func (n *Node) askDeposits(now grid.Time, j *job, fx *grid.Effects) {
	if j.leads() {
		n.deposits.Ask(now, &j.replica.files, fx)
		n.followDeposits(fx)
	}
}

// depositAnswered handles a member's answer.
func (n *Node) depositAnswered(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	id := m.Attempts[0]
	j := n.job(id.Task.Job)
	if n.isOutsider(j, from) {
		n.countOffence(from, fx)
		return
	}
	if j == nil || !j.replica.IsOwner() || !j.replica.files.Answered(from, id, m.Refusal) {
		n.stats.Stale++
		return
	}
	if id == deposit.InputsID(j.id) {
		n.confirmSubmission(now, j, fx)
		return
	}
	n.finishReplicated(now, j, id.Task.Index, fx)
}

// sortArchive orders the archive, and the deposits of its jobs, by the jobs' ends, after a restart.
func (n *Node) sortArchive() {
	n.archive.sort()
	n.deposits.Reorder(func(yield func(*deposit.Files) bool) {
		for i := range n.archive.all() {
			if j := n.archive.at(i).open; j != nil && !yield(&j.replica.files) {
				return
			}
		}
	})
}
