package coordinator

import (
	"skep/grid"
	"skep/node/coordinator/cancellation"
	"skep/node/dependency"
	"skep/node/deposit"
	"skep/node/quota"
)

// Deposits: what the files of a replicated job, stored by its members (package deposit), mean for the job.

// LowDisk says that the disk is nearly full, or no longer so.
func (c *Coordinator) LowDisk(low bool) { c.deposits.LowDisk(low) }

// followDeposits makes the jobs follow the changes of their deposits, in the order of these.
func (c *Coordinator) followDeposits(fx *grid.Effects) {
	for x, ok := c.deposits.NextChange(); ok; x, ok = c.deposits.NextChange() {
		j := c.jobs.Get(x.Of.Job())
		switch x.Kind {
		case deposit.Evicted:
			c.archive.Remove(c.cfg.Self, c.archive.Find(j.id))
			c.buryJob(j, byAccount, fx)
		case deposit.InputsStored:
			c.notePayer(j)
			j.replica.HoldInputs()
			j.replica.Save(fx)
			c.kept.Of(j.id).Hold(j.kept, j.spec.Inputs)
		case deposit.OutputStored:
			c.notePayer(j)
			c.saveEntry(j, x.Index, fx)
			c.holdOutput(j, x.Index)
		case deposit.ResultAdded:
			c.rechargeJob(j)
		}
	}
}

// notePayer has the node that is charged for a job's files known as one that shares registers with this one.
func (c *Coordinator) notePayer(j *job) {
	if payer := j.replica.files.Payer(); !payer.IsZero() {
		c.replicas.Note(payer)
	}
}

// matchDeposit aligns a task's deposit with its end in the register.
func (c *Coordinator) matchDeposit(j *job, i uint32, fx *grid.Effects) {
	if j.replica.Sole() {
		return
	}
	c.deposits.Match(&j.replica.files, i, fx)
	c.followDeposits(fx)
}

// depositAsked handles the request of a job's owner to store files.
func (c *Coordinator) depositAsked(from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	id, full := m.Attempts[0], false
	j := c.job(id.Task.Job)
	if j == nil || j.ownerKnown() != from || j.replica.IsOwner() || j.replica.State().Done ||
		id.Task.Index >= j.spec.Count {
		c.stats.Stale++
		return
	}
	if id != deposit.InputsID(j.id) {
		if m.Result == nil {
			c.stats.Stale++
			return
		}
		full = c.quota.AdmitMore(j.id, quota.ResultBytes(m.Result)) != ""
	}
	c.deposits.Asked(&j.replica.files, from, id, m.Result, full, fx)
	c.followDeposits(fx)
}

// depositFetched continues after a fetch has succeeded or failed.
func (c *Coordinator) depositFetched(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	if ev.Step != 0 {
		c.checkpoints.Fetched(now, ev, c, fx)
		return
	}
	j := c.job(ev.Attempt.Task.Job)
	if j == nil || ev.Attempt.Task.Index >= j.spec.Count {
		c.deposits.Fetched(nil, ev.Attempt, ev.Err, fx)
		return
	}
	ownInputs := c.deposits.Fetched(&j.replica.files, ev.Attempt, ev.Err, fx)
	c.followDeposits(fx)
	if ownInputs {
		c.confirmSubmission(now, j, fx)
	}
}

// replicateOutput has a result's files stored by a majority of the members, then records the task's end. The files are
// stored here already.
func (c *Coordinator) replicateOutput(now grid.Time, l *liveTask, r *grid.Result, fx *grid.Effects) {
	j := l.job
	if j.replica.Sole() || len(r.Blobs(nil)) == 0 {
		c.recordResult(now, l, r, fx)
		return
	}
	r, waits := c.deposits.ReplicateOutput(now, &j.replica.files, l.id(), r, fx)
	c.notePayer(j)
	c.rechargeJob(j)
	if !waits {
		c.recordResult(now, l, r, fx)
		return
	}
	l.result = r
	c.saveEntry(j, l.index, fx)
	c.scheduleTick(now, fx)
}

// finishReplicated records a task's end if a majority has its files, or is no longer waited for.
func (c *Coordinator) finishReplicated(now grid.Time, j *job, i uint32, fx *grid.Effects) {
	if r, finished := j.replica.files.Finish(now, i); finished {
		c.recordResult(now, j.tasks.At(i).Live, r, fx)
	}
}

// tickDeposits repeats unanswered requests, and no longer waits for those whose deadline has passed.
func (c *Coordinator) tickDeposits(now grid.Time, j *job, fx *grid.Effects) {
	c.askDeposits(now, j, fx)
	if !j.replica.IsOwner() {
		return
	}
	c.confirmSubmission(now, j, fx)
	for _, i := range j.replica.files.Replicating() {
		c.finishReplicated(now, j, i, fx)
	}
}

// askDeposits asks the members, as the owner of a job that is not closed, for the deposits that they have not
// confirmed.
func (c *Coordinator) askDeposits(now grid.Time, j *job, fx *grid.Effects) {
	if j.leads() {
		c.deposits.Ask(now, &j.replica.files, fx)
		c.followDeposits(fx)
	}
}

// depositAnswered handles a member's answer.
func (c *Coordinator) depositAnswered(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	id := m.Attempts[0]
	j := c.job(id.Task.Job)
	if c.isOutsider(j, from) {
		c.countOffence(from, fx)
		return
	}
	if j == nil || !j.replica.IsOwner() || !j.replica.files.Answered(from, id, m.Refusal) {
		c.stats.Stale++
		return
	}
	if id == deposit.InputsID(j.id) {
		if m.Refusal.Why == grid.WhyNone {
			c.peers.HasInputs(from, j.spec)
		}
		c.confirmSubmission(now, j, fx)
		return
	}
	c.finishReplicated(now, j, id.Task.Index, fx)
}

// Jobs that wait for others. How those have ended is in the register before a task is released (package dependency).

// WaitsForJobs returns what a job waits for that this node owns and that is not cancelled, and whether an entry of its
// register is written; nil = there is no such job.
func (c *Coordinator) WaitsForJobs(id grid.JobID) (spec *grid.JobSpec, written func(entry uint32) bool) {
	j := c.jobs.Get(id)
	if j == nil || !j.leads() || j.cancelled {
		return nil, nil
	}
	return j.spec, func(entry uint32) bool {
		v, _ := j.replica.Value(entry)
		return v != nil
	}
}

// RecordDependency records, as the owner of a job that waits, how what it waits for has ended: once.
func (c *Coordinator) RecordDependency(now grid.Time, id grid.JobID, e *grid.Entry, fx *grid.Effects) {
	spec, written := c.WaitsForJobs(id)
	if spec == nil || written(e.Index) {
		return
	}
	j := c.jobs.Get(id)
	if j.replica.graceUntil != 0 || j.BulkEnd().On() { // its tasks would count as lost; it asks again
		return
	}
	e.Done = c.wall.At(now).UnixNano()
	j.replica.Propose(e)
	c.saveEntry(j, e.Index, fx)
	c.rechargeJob(j)
	if j.replica.Sole() {
		c.dependencyCommitted(now, j, e.Index, fx)
	}
}

// dependencyCommitted releases what waited for the end that an entry records, or ends it if that never can be.
func (c *Coordinator) dependencyCommitted(now grid.Time, j *job, entry uint32, fx *grid.Effects) {
	k, i, known := j.spec.DependencyOf(entry)
	switch {
	case !known || j.cancelled:
	case entry == j.spec.DependencyEntry(k):
		c.countFailure(j)
		c.requeueJob(j)
	case i >= j.nextFresh || j.replica.graceUntil != 0 || j.BulkEnd().On(): // the queue comes to it
		c.requeueJob(j)
	case j.tasks.State(i) == grid.Pending && j.at(i).Live == nil && !c.skipsHeld(now, j, i, fx):
		c.retry(c.newLiveTask(j, i))
	}
}

// skipsHeld reports whether a pending task may not be placed: it is held, or ends now since it waited in vain.
func (c *Coordinator) skipsHeld(now grid.Time, j *job, i uint32, fx *grid.Effects) bool {
	held := j.holds(i)
	if held {
		if why := dependency.VainTask(j.spec, j.replica, i); why != "" {
			c.end(now, j, i, cancellation.Because(why), fx)
		}
	}
	return held
}

// holdOutput counts the files that a task has left, which this node keeps for a job that is over.
func (c *Coordinator) holdOutput(j *job, i uint32) {
	if v, _ := j.replica.Value(i); v != nil && !v.Open() && v.Result != nil {
		c.kept.Of(j.id).Hold(j.kept, v.Result.Blobs(nil))
	}
}

// heldFiles are the files that this node keeps for a job that is over.
func (c *Coordinator) heldFiles(j *job) (files []grid.File) {
	if j.replica.files.HasInputs() {
		files = append(files, j.spec.Inputs...)
	}
	for i, v := range j.replica.Written() {
		if v.Result == nil {
			continue
		}
		a, _, stored := j.replica.files.Output(i)
		if !v.Open() && (j.replica.Sole() || stored && a == v.Attempt || i > j.spec.Count && c.isOrigin(j.id)) {
			files = v.Result.Blobs(files)
		}
	}
	return files
}
