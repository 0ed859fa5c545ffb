package node

import (
	"fmt"

	"skep/grid"
	"skep/node/replication"
)

// saveEntry saves a task's state; index Count is the job's cancellation. Every task with a record has an entry in
// j.tasks, so that its record is found when the job is forgotten.
func (c *coordinator) saveEntry(j *job, i uint32, fx *grid.Effects) *grid.TaskRecord {
	rec := fx.Save(grid.RecEntry)
	e := &rec.Entry
	e.ID.Task = grid.TaskID{Job: j.id, Index: i}
	v, final := j.replica.Value(i)
	if v == nil && i == j.spec.Count {
		rec.Delete = true
	} else if v != nil {
		e.State, e.ID.Attempt, e.Worker, e.Lost, e.Result = grid.Ended, v.Attempt, v.Worker, v.Lost, v.Result
		e.Placed, e.Began, e.Done, e.Epoch, e.Committed = v.Placed, v.Began, v.Done, v.Epoch, final
		a, _, found := j.replica.files.Output(i)
		e.Held = found && a == v.Attempt || j.replica.Sole()
	} else if i < j.spec.Count {
		t := j.task(i)
		e.State, e.ID.Attempt, e.Worker, e.Lost = t.state, t.attempt, t.worker, t.lost
		e.Placed, e.Began, e.Done, e.Backup = t.placed, t.began, t.done, t.backupRecord()
		if a, r, found := j.replica.files.Output(i); found && !a.Less(t.attempt) { // the deposit must not replace the record of a newer attempt
			e.ID.Attempt, e.Result, e.Held = a, r, true
		}
	}
	return &e.TaskRecord
}

// restoreReplica restores a job with a register. Its entries may have been restored before it.
func (c *coordinator) restoreReplica(r *grid.RegisterRecord) {
	s := grid.RegisterState{Promised: r.Promised, VotedFor: r.VotedFor, Epoch: r.Epoch, Owner: r.Owner, Done: r.Done}
	j := c.newReplica(r.ID, r.Spec, r.Submitted, r.Members, s)
	j.replica.MembersVerified = r.ID.Origin == c.cfg.Self // not on disk for jobs of others: the stored members hold until the origin contradicts them
	if r.Held {
		j.replica.InputsHeld = true
		c.deposits.InputsStored(&j.replica.files)
		c.notePayer(j)
	}
	for _, e := range c.strayEntries[r.ID] {
		c.putEntry(j, &e)
	}
	delete(c.strayEntries, r.ID)
	if from := r.Owner; r.ID.Origin != c.cfg.Self {
		if from.IsZero() || from == c.cfg.Self {
			from = r.ID.Origin
		}
		c.chargeJob(j, from)
	}
}

func (c *coordinator) restoreEntry(r *grid.EntryRecord) {
	if j := c.job(r.ID.Task.Job); j != nil {
		c.putEntry(j, r)
		c.rechargeJob(j)
		return
	}
	if c.strayEntries == nil {
		c.strayEntries = make(map[grid.JobID][]grid.EntryRecord)
	}
	c.strayEntries[r.ID.Task.Job] = append(c.strayEntries[r.ID.Task.Job], *r)
}

func (c *coordinator) putEntry(j *job, r *grid.EntryRecord) {
	i := r.ID.Task.Index
	if r.Epoch > 0 {
		j.replica.Restore(&grid.Entry{Index: i, Epoch: r.Epoch, Attempt: r.ID.Attempt, Worker: r.Worker, Lost: r.Lost,
			Result: r.Result, Placed: r.Placed, Began: r.Began, Done: r.Done}, r.Committed)
	}
	if i == j.spec.Count {
		j.cancelled = r.Epoch > 0
		return
	}
	if r.Held && r.Result != nil && !j.replica.Sole() {
		c.deposits.OutputStored(&j.replica.files, i, r.ID.Attempt, r.Result)
		c.notePayer(j)
		c.rechargeJob(j)
	}
	if r.Epoch == 0 {
		rec := r.TaskRecord
		rec.Result = nil // the record only says that the output is deposited here
		if r.Worker.IsZero() {
			rec.ID.Attempt = grid.Attempt{} // another owner made the attempt: this owner has yet to hear of it
		}
		c.putTask(j, &rec)
		return
	}
	c.deposits.ResultWritten(&j.replica.files, i)
	if r.Committed || j.replica.State().Done {
		c.putTask(j, &r.TaskRecord)
		return
	}
	failed, exit := j.failed, j.exit
	c.putTask(j, &r.TaskRecord)
	j.failed, j.exit = failed, exit
	t := j.task(i)
	t.uncommitted, t.heldByWorker = true, t.worker == c.cfg.Self // other workers report theirs again
	j.uncommitted++
}

// resumeReplica resumes a job of whose register this node is a member. As the owner it acts once a majority has
// answered; as a member it may have answered the owner just before it stopped.
func (c *coordinator) resumeReplica(now grid.Time, j *job, fx *grid.Effects) {
	rep := j.replica
	j.quietAt = now.Add(replication.TakeoverDelay(c.cfg.Lease))
	c.scheduleTick(now, fx)
	owns := rep.Resume(now)
	c.followRegisters(now, fx)
	if !owns {
		return
	}
	if cancelled, _ := rep.Cancelled(); cancelled {
		if rep.Sole() {
			c.endAll(now, j, fx)
			return
		}
		c.startBulkEnd(now, j, fx)
	}
	epoch := rep.State().Epoch
	rep.fullHistoryFrom = epoch
	if !rep.Sole() {
		c.deposits.ReplicateInputs(now, &rep.files)
	}
	if epoch > 1 {
		rep.graceUntil = now.Add(c.cfg.Lease)
	} else if !j.cancelled {
		c.enqueueJob(j)
	}
	c.rates.Arrive(now, j.class, j.spec, 0)
	c.resume(now, j, fx)
}

// cancel cancels a job. The caller is answered once the cancellation is committed. From now on this owner places none of
// its tasks, and any later owner will know.
func (c *coordinator) cancel(now grid.Time, ev *grid.Event, j *job, fx *grid.Effects) {
	rep := j.replica
	cancelled, _ := rep.Cancelled()
	switch {
	case rep.State().Done || !cancelled && j.counts[grid.Ended]-j.uncommitted == j.count(): // an end that was visible does not change
		c.awaitBarrier(now, j, ev.Caller, fx)
	case !rep.IsOwner():
		fx.Reply(ev.Caller, ev.Job, fmt.Sprintf("job %s: its owner is node %s", j.id.Short(), j.ownerKnown().Short()))
	default:
		v, final := rep.Value(j.spec.Count)
		if v != nil && final {
			c.awaitBarrier(now, j, ev.Caller, fx)
			return
		}
		rep.cancellers = append(rep.cancellers, ev.Caller)
		if v != nil {
			return
		}
		c.raiseBarrier(now, j, fx)
		j.cancelled = true
		rep.Propose(&grid.Entry{Index: j.spec.Count, Done: c.wall.At(now).UnixNano()})
		c.saveEntry(j, j.spec.Count, fx)
		if j.id.Origin == c.cfg.Self {
			c.endAll(now, j, fx)
		} else {
			c.startBulkEnd(now, j, fx)
		}
		if rep.Sole() {
			c.answerCancellers(now, j, fx)
		}
	}
}

// awaitsCommit reports whether this node recorded the attempt's result as the owner and it is not yet committed.
func (j *job) awaitsCommit(id grid.AttemptID) bool {
	if id.Task.Index >= j.spec.Count {
		return false
	}
	t := j.at(id.Task.Index)
	return t.uncommitted && t.attempt == id.Attempt
}

// forgetEntries deletes a job's entries from disk.
func (c *coordinator) forgetEntries(j *job, fx *grid.Effects) {
	known := 0
	for range j.known() {
		known++
	}
	if known > maxForgottenSingly {
		c.forgetEntry(j, 0, fx)
		fx.Saves[len(fx.Saves)-1].Entry.Further = j.spec.Count
		return
	}
	for i := range j.known() {
		c.forgetEntry(j, i, fx)
	}
	c.forgetEntry(j, j.spec.Count, fx)
}

func (c *coordinator) forgetEntry(j *job, i uint32, fx *grid.Effects) {
	rec := fx.Save(grid.RecEntry)
	rec.Delete = true
	rec.Entry.ID.Task = grid.TaskID{Job: j.id, Index: i}
}

// maxForgottenSingly is the number of a job's entries up to which each is deleted by a record of its own.
const maxForgottenSingly = 1000

// buryJob forgets a job that is over, but for its tombstone.
func (c *coordinator) buryJob(j *job, fx *grid.Effects) {
	j.replica.Bury(max(j.done, j.submitted), fx)
	c.forgetJob(j, fx)
}

// forgetJob deletes a job with a register from memory and disk.
func (c *coordinator) forgetJob(j *job, fx *grid.Effects) {
	c.forgetEntries(j, fx)
	rec := fx.Save(grid.RecRegister)
	rec.Delete, rec.Register.ID = true, j.id
	c.deposits.Release(&j.replica.files)
	c.ledger.Forget(j.id)
	c.jobs.Drop(j.id)
}
