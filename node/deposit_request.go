package node

import (
	"slices"

	"skep/grid"
	"skep/node/deposit"
)

// Deposits, the owner's side: which members are asked to store which files.

// replicateInputs starts to replicate a job's inputs to a majority of the members.
func (n *Node) replicateInputs(now grid.Time, j *job) {
	if rep := j.replica; len(j.spec.Inputs) > 0 {
		rep.inputs = n.newFileReplicas(now, j, j.spec.Inputs, rep.files.HasInputs())
	}
}

// confirmSubmission answers the submitters once a majority has the job and its inputs, or the inputs are no longer
// waited for.
func (n *Node) confirmSubmission(now grid.Time, j *job, fx *grid.Effects) {
	if rep := j.replica; rep.Ready() && (rep.inputs == nil || rep.inputs.settle(now, rep)) {
		n.replyAll(&rep.submitters, j.id, fx)
	}
}

// replicateOutput replicates a result's files to a majority of the members, then records the task's end. The files
// are stored here already.
func (n *Node) replicateOutput(now grid.Time, l *liveTask, r *grid.Result, fx *grid.Effects) {
	j, files := l.job, r.Blobs(nil)
	if j.replica == nil || len(files) == 0 {
		n.recordResult(now, l, r, fx)
		return
	}
	n.outputStored(j, l.index, l.task().attempt, r)
	if l.replicas = n.newFileReplicas(now, j, files, true); l.replicas.tooLarge {
		n.recordResult(now, l, l.replicas.annotate(j, r), fx)
		return
	}
	l.result = r
	j.replica.replicating = append(j.replica.replicating, l)
	n.saveEntry(j, l.index, fx)
	n.scheduleTick(now, fx)
	for place := range j.replica.Members() {
		n.askDeposit(now, j, place, l.replicas, l.id(), r, fx)
	}
}

// finishReplicated records a task's end if a majority has its files, or is no longer waited for.
func (n *Node) finishReplicated(now grid.Time, l *liveTask, fx *grid.Effects) {
	j, f := l.job, l.replicas
	if !f.settle(now, j.replica) {
		return
	}
	j.replica.replicating = slices.DeleteFunc(j.replica.replicating, func(o *liveTask) bool { return o == l })
	r := l.result
	if !f.hasMajority(j.replica) {
		r = f.annotate(j, r)
	}
	n.recordResult(now, l, r, fx)
}

// tickDeposits repeats unanswered requests, and settles those whose deadline has passed.
func (n *Node) tickDeposits(now grid.Time, j *job, fx *grid.Effects) {
	n.askDeposits(now, j, fx)
	if !j.replica.IsOwner() {
		return
	}
	n.confirmSubmission(now, j, fx)
	for _, l := range slices.Clone(j.replica.replicating) {
		n.finishReplicated(now, l, fx)
	}
}

// askDeposits asks each member for the deposits that it has not confirmed.
func (n *Node) askDeposits(now grid.Time, j *job, fx *grid.Effects) {
	rep := j.replica
	if !rep.IsOwner() || rep.State().Done || rep.inputs == nil && len(rep.replicating) == 0 {
		return
	}
	rep.replicating = slices.DeleteFunc(rep.replicating, func(l *liveTask) bool { return !l.isReplicating() })
	for place := range rep.Members() {
		if rep.inputs != nil {
			n.askDeposit(now, j, place, rep.inputs, deposit.InputsID(j.id), nil, fx)
		}
		for _, l := range rep.replicating {
			n.askDeposit(now, j, place, l.replicas, l.id(), l.result, fx)
		}
	}
}

// isReplicating reports whether the files of the task's result are still being replicated.
func (l *liveTask) isReplicating() bool { return l.replicas != nil && l.task().live == l }

// askDeposit asks one member if a request is due. An owner that is not the origin may lack the inputs itself and
// fetches them.
func (n *Node) askDeposit(now grid.Time, j *job, place int, f *fileReplicas, id grid.AttemptID, r *grid.Result, fx *grid.Effects) {
	rep, bit, again := j.replica, uint8(1)<<place, n.cfg.Lease/3
	if f.refused&bit != 0 {
		again = copyRetryAfter
	}
	if f.tooLarge || f.have&bit != 0 || f.askedAt[place] != 0 && now < f.askedAt[place].Add(again) {
		return
	}
	to := rep.Members()[place]
	switch {
	case to == n.cfg.Self:
		f.askedAt[place] = now
		n.deposits.FetchInputs(&rep.files, j.id.Origin, fx)
		n.followDeposits(fx)
	case rep.HasAccepted(place):
		f.askedAt[place] = now
		m := fx.Send(to, grid.KindDeposit)
		m.Attempts, m.Result = append(m.Attempts, id), r
	}
}

// depositAnswered takes a member's answer.
func (n *Node) depositAnswered(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	id := m.Attempts[0]
	j := n.job(id.Task.Job)
	if n.isOutsider(j, from) {
		n.countOffence(from, fx)
		return
	}
	if j == nil || j.replica == nil || !j.replica.IsOwner() || j.replica.Place(from) < 0 || id.Task.Index >= j.spec.Count {
		n.stats.Stale++
		return
	}
	f, l := j.replica.inputs, (*liveTask)(nil)
	if id != deposit.InputsID(j.id) {
		if l = j.at(id.Task.Index).live; l == nil || !l.isReplicating() || l.id() != id {
			n.stats.Stale++
			return
		}
		f = l.replicas
	}
	if f == nil {
		n.stats.Stale++
		return
	}
	f.answer(j.replica.Place(from), from, m.Refusal)
	if l != nil {
		n.finishReplicated(now, l, fx)
		return
	}
	n.confirmSubmission(now, j, fx)
}
