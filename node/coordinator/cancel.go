package coordinator

import (
	"fmt"
	"iter"

	"skep/grid"
	"skep/internal/indices"
	"skep/node/coordinator/bulk"
	"skep/node/coordinator/callers"
	"skep/node/coordinator/cancellation"
)

// cancel ends every task of a job that has not ended, or those of the tasks that the event names. Workers that still
// have attempts are told to drop them, again at each beat. The caller is answered once nothing of what was cancelled
// can start anywhere: see package barrier.
func (c *Coordinator) cancel(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	j := c.job(ev.Job)
	if j == nil {
		fx.Reply(ev.Caller, ev.Job, unknownHere(ev.Job))
		return
	}
	if len(ev.Tasks) > 0 {
		c.cancelTasks(now, j, ev, fx)
		return
	}
	rep := j.replica
	cancelled, final := rep.Cancelled() // not one that a retry has withdrawn
	switch {
	case !rep.State().Done && !rep.IsOwner(): // also if all has ended here: the owner may have tasks run again
		fx.Reply(ev.Caller, ev.Job, j.ownedElsewhere())
	// an end that was visible does not change
	case rep.State().Done || final || !cancelled && j.tasks.Over() == j.count():
		c.awaitCurrent(now, j, ev.Caller, fx)
	default:
		rep.callers.Cancel(ev.Caller)
		if cancelled {
			return
		}
		c.cancelRest(now, j, nil, fx)
		if rep.Sole() {
			c.answerCancellers(now, j, fx)
		}
	}
}

// endAll ends all unended tasks of a job as cancelled.
func (c *Coordinator) endAll(now grid.Time, j *job, fx *grid.Effects) {
	c.leaveOutUnused(j)
	r := j.cancellation().Result()
	for i := range j.spec.Count {
		if j.tasks.State(i) != grid.Ended {
			c.end(now, j, i, r, fx)
		}
	}
}

// answerCancellers answers those who wait for the job's cancellation, once nothing of it can start any more.
func (c *Coordinator) answerCancellers(now grid.Time, j *job, fx *grid.Effects) {
	for _, x := range j.replica.callers.Cancelled() {
		c.awaitBarrier(now, j, x, fx)
	}
}

// cancelTasks ends those of a job's tasks that the event names and that have not ended. Each end is an entry of the
// register like any other, so that a new owner keeps it. The caller is answered as that of a cancelled job is: when all
// of these entries are committed and no attempt of the tasks can start any more.
func (c *Coordinator) cancelTasks(now grid.Time, j *job, ev *grid.Event, fx *grid.Effects) {
	rep, refuse := j.replica, func(text string) { fx.Reply(ev.Caller, j.id, text) }
	if why := j.cancellation().Lacks(ev.Tasks); why != "" {
		refuse(fmt.Sprintf("job %s: %s", j.id.Short(), why))
		return
	}
	if !rep.State().Done && !rep.IsOwner() {
		refuse(j.ownedElsewhere())
		return
	}
	unended := 0
	for range j.unendedOf(ev.Tasks) {
		unended++
	}
	if !c.isOrigin(j.id) && unended > bulk.Batch {
		refuse(fmt.Sprintf("job %s: %d of these tasks have not ended: a node that took the job over cancels at most %d at a "+
			"time", j.id.Short(), unended, bulk.Batch))
		return
	}
	if why := c.admitEnds(j, unended); why != "" {
		refuse(fmt.Sprintf("job %s: its owner has no room to record that %d tasks end: %s", j.id.Short(), unended, why))
		return
	}
	if unended > 0 {
		c.raiseBarrier(now, j, j.unendedOf(ev.Tasks), fx)
		c.cancelEach(now, j, ev.Tasks, fx)
	}
	x := callers.Change{Caller: ev.Caller, Cancels: true}
	for k := range ev.Tasks.Len() {
		if i := ev.Tasks.At(k); j.at(i).Uncommitted() {
			x.Await(i)
		}
	}
	if x.Committed() {
		c.awaitCurrent(now, j, ev.Caller, fx)
		return
	}
	rep.callers.Change(x)
}

func (c *Coordinator) cancelEach(now grid.Time, j *job, tasks indices.Set, fx *grid.Effects) {
	for k := range tasks.Len() {
		if i := tasks.At(k); j.tasks.State(i) != grid.Ended {
			c.end(now, j, i, cancellation.ByCaller, fx)
		}
	}
}

// unendedOf iterates over those of the tasks that have not ended.
func (j *job) unendedOf(tasks indices.Set) iter.Seq2[uint32, *task] {
	return func(yield func(uint32, *task) bool) {
		for k := range tasks.Len() {
			if i := tasks.At(k); j.tasks.State(i) != grid.Ended && !yield(i, j.at(i)) {
				return
			}
		}
	}
}

// answerCallers answers those of whose tasks no further one is waited for, now that what became of a task is committed:
// that it ended, or that it is run again.
func (c *Coordinator) answerCallers(now grid.Time, j *job, i uint32, ended bool, fx *grid.Effects) {
	for _, x := range j.replica.callers.Committed(i, ended) {
		if x.Cancels {
			c.awaitBarrier(now, j, x.Caller, fx)
		} else {
			fx.Reply(x.Caller, j.id, "")
		}
	}
}

// cancelRest cancels, as its owner, what has not ended of a job that is not cancelled. end is how its tasks end if its
// deadline is over; else nil.
func (c *Coordinator) cancelRest(now grid.Time, j *job, end *grid.Result, fx *grid.Effects) {
	c.raiseBarrier(now, j, j.tasks.Known(), fx)
	c.dropGang(now, j, fx)
	j.cancelled = true
	c.dequeueJob(j)
	for _, t := range j.tasks.Known() { // nothing more of it is placed: a bulk end may take long
		if t.Live != nil && t.State() == grid.Pending {
			c.dropLive(t.Live)
		}
	}
	j.replica.Propose(j.cancellation().Entry(c.wall.At(now).UnixNano(), end))
	c.saveEntry(j, j.spec.Count, fx)
	if c.isOrigin(j.id) {
		c.endAll(now, j, fx)
	} else {
		c.startBulkEnd(now, j, fx)
	}
}

// countFailure notes that a task of a job has failed, which may be the last one that may, or a job that it waits for.
func (c *Coordinator) countFailure(j *job) {
	if j.cancellation().IsDue(j.Failed-j.Withdrawn) && j.leads() {
		c.queue.toCancel = append(c.queue.toCancel, j)
	}
}

// stopFailing cancels the rest of the jobs of which as many tasks have failed as may, or that wait in vain.
func (c *Coordinator) stopFailing(now grid.Time, fx *grid.Effects) {
	c.settleAccounts(now, fx)
	jobs := c.queue.toCancel
	c.queue.toCancel = nil
	for _, j := range jobs {
		if c.jobs.Get(j.id) == j && !j.cancelled && j.leads() && j.tasks.In(grid.Ended) < j.count() {
			c.cancelRest(now, j, j.deadlineEnd(now), fx)
			c.barriers.Wake(now, barrierKey, fx)
		}
	}
}

// leaveOutUnused makes the ranks of a cancelled gang that its newest attempt does not use ones of that attempt.
func (c *Coordinator) leaveOutUnused(j *job) {
	if !j.cancelled || !j.spec.IsGang() {
		return
	}
	a := c.Newest(grid.TaskID{Job: j.id})
	for i := j.spec.Gang.RanksOf(a); i < j.spec.Count; i++ {
		if j.tasks.State(i) == grid.Pending && j.at(i).Attempt.Less(a) {
			j.leaveOut(i, a)
		}
	}
}
