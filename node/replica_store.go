package node

import (
	"fmt"

	"skep/grid"
	"skep/node/replication"
)

// saveEntry saves a task's state; index Count is the job's cancellation. Every task with a record has an entry in
// j.tasks, so that its record is found when the job is forgotten.
func (n *Node) saveEntry(j *job, i uint32, fx *grid.Effects) *grid.TaskRecord {
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
func (n *Node) restoreReplica(r *grid.RegisterRecord) {
	s := replication.State{Promised: r.Promised, VotedFor: r.VotedFor, Epoch: r.Epoch, Owner: r.Owner, Done: r.Done}
	j := n.newReplica(r.ID, r.Spec, r.Submitted, r.Members, s)
	j.replica.MembersVerified = r.ID.Origin == n.cfg.Self // not on disk for jobs of others: the stored members hold until the origin contradicts them
	if r.Held {
		j.replica.InputsHeld = true
		n.deposits.InputsStored(&j.replica.files)
		n.notePayer(j)
	}
	for _, e := range n.strayEntries[r.ID] {
		n.putEntry(j, &e)
	}
	delete(n.strayEntries, r.ID)
	if from := r.Owner; r.ID.Origin != n.cfg.Self {
		if from.IsZero() || from == n.cfg.Self {
			from = r.ID.Origin
		}
		n.chargeJob(j, from)
	}
}

func (n *Node) restoreEntry(r *grid.EntryRecord) {
	if j := n.job(r.ID.Task.Job); j != nil {
		n.putEntry(j, r)
		n.rechargeJob(j)
		return
	}
	if n.strayEntries == nil {
		n.strayEntries = make(map[grid.JobID][]grid.EntryRecord)
	}
	n.strayEntries[r.ID.Task.Job] = append(n.strayEntries[r.ID.Task.Job], *r)
}

func (n *Node) putEntry(j *job, r *grid.EntryRecord) {
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
		n.deposits.OutputStored(&j.replica.files, i, r.ID.Attempt, r.Result)
		n.notePayer(j)
		n.rechargeJob(j)
	}
	if r.Epoch == 0 {
		rec := r.TaskRecord
		rec.Result = nil // the record only says that the output is deposited here
		if r.Worker.IsZero() {
			rec.ID.Attempt = grid.Attempt{} // another owner made the attempt: this owner has yet to hear of it
		}
		n.putTask(j, &rec)
		return
	}
	n.deposits.ResultWritten(&j.replica.files, i)
	if r.Committed || j.replica.State().Done {
		n.putTask(j, &r.TaskRecord)
		return
	}
	failed, exit := j.failed, j.exit
	n.putTask(j, &r.TaskRecord)
	j.failed, j.exit = failed, exit
	t := j.task(i)
	t.uncommitted, t.heldByWorker = true, t.worker == n.cfg.Self // other workers report theirs again
	j.uncommitted++
}

// resumeReplica resumes a job of whose register this node is a member. As the owner it acts once a majority has
// answered; as a member it may have answered the owner just before it stopped.
func (n *Node) resumeReplica(now grid.Time, j *job, fx *grid.Effects) {
	rep := j.replica
	j.quietAt = now.Add(replication.TakeoverDelay(n.cfg.Lease))
	n.scheduleTick(now, fx)
	owns := n.replicas.Resume(now, rep.Replica)
	n.followRegisters(now, fx)
	if !owns {
		return
	}
	if cancelled, _ := rep.Cancelled(); cancelled {
		if rep.Sole() {
			n.endAll(now, j, fx)
			return
		}
		n.startBulkEnd(now, j, fx)
	}
	epoch := rep.State().Epoch
	rep.fullHistoryFrom = epoch
	if !rep.Sole() {
		n.deposits.ReplicateInputs(now, &rep.files)
	}
	if epoch > 1 {
		rep.graceUntil = now.Add(n.cfg.Lease)
	} else if !j.cancelled {
		n.enqueueJob(j)
	}
	n.rates.Arrive(now, j.class, j.spec, 0)
	n.resume(now, j, fx)
}

// cancel cancels a job. The caller is answered once the cancellation is committed. From now on this owner places none of
// its tasks, and any later owner will know.
func (n *Node) cancel(now grid.Time, ev *grid.Event, j *job, fx *grid.Effects) {
	rep := j.replica
	cancelled, _ := rep.Cancelled()
	switch {
	case rep.State().Done || !cancelled && j.counts[grid.Ended]-j.uncommitted == j.count(): // an end that was visible does not change
		n.awaitBarrier(now, j, ev.Caller, fx)
	case !rep.IsOwner():
		fx.Reply(ev.Caller, ev.Job, fmt.Sprintf("job %s: its owner is node %s", j.id.Short(), j.ownerKnown().Short()))
	default:
		v, final := rep.Value(j.spec.Count)
		if v != nil && final {
			n.awaitBarrier(now, j, ev.Caller, fx)
			return
		}
		rep.cancellers = append(rep.cancellers, ev.Caller)
		if v != nil {
			return
		}
		n.raiseBarrier(now, j, fx)
		j.cancelled = true
		n.replicas.Propose(rep.Replica, &grid.Entry{Index: j.spec.Count, Done: n.wall.At(now).UnixNano()})
		n.saveEntry(j, j.spec.Count, fx)
		if j.id.Origin == n.cfg.Self {
			n.endAll(now, j, fx)
		} else {
			n.startBulkEnd(now, j, fx)
		}
		if rep.Sole() {
			n.answerCancellers(now, j, fx)
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
func (n *Node) forgetEntries(j *job, fx *grid.Effects) {
	known := 0
	for range j.known() {
		known++
	}
	if known > maxForgottenSingly {
		n.forgetEntry(j, 0, fx)
		fx.Saves[len(fx.Saves)-1].Entry.Further = j.spec.Count
		return
	}
	for i := range j.known() {
		n.forgetEntry(j, i, fx)
	}
	n.forgetEntry(j, j.spec.Count, fx)
}

func (n *Node) forgetEntry(j *job, i uint32, fx *grid.Effects) {
	rec := fx.Save(grid.RecEntry)
	rec.Delete = true
	rec.Entry.ID.Task = grid.TaskID{Job: j.id, Index: i}
}

// maxForgottenSingly is the number of a job's entries up to which each is deleted by a record of its own.
const maxForgottenSingly = 1000

// buryJob forgets a job that is over, but for its tombstone.
func (n *Node) buryJob(j *job, fx *grid.Effects) {
	n.replicas.Bury(j.replica.Replica, max(j.done, j.submitted), fx)
	n.forgetJob(j, fx)
}

// forgetJob deletes a job with a register from memory and disk.
func (n *Node) forgetJob(j *job, fx *grid.Effects) {
	n.forgetEntries(j, fx)
	rec := fx.Save(grid.RecRegister)
	rec.Delete, rec.Register.ID = true, j.id
	n.deposits.Release(&j.replica.files)
	n.ledger.Forget(j.id)
	n.jobs.Drop(j.id)
}
