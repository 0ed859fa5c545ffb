package coordinator

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"skep/grid"
	"skep/internal/indices"
	"skep/node/dependency"
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
	case rep.State().Done || final || !cancelled && j.counts[grid.Ended]-j.uncommitted == j.count():
		c.awaitCurrent(now, j, ev.Caller, fx)
	default:
		rep.cancellers = append(rep.cancellers, ev.Caller)
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
	r := j.cancelResult()
	for i := range j.spec.Count {
		if j.state(i) != grid.Ended {
			c.end(now, j, i, r, fx)
		}
	}
}

// answerCancellers answers those who wait for the job's cancellation, once nothing of it can start any more.
func (c *Coordinator) answerCancellers(now grid.Time, j *job, fx *grid.Effects) {
	for _, x := range j.replica.cancellers {
		c.awaitBarrier(now, j, x, fx)
	}
	j.replica.cancellers = nil
}

// tasksRequest is a caller's request about tasks of a job that is answered when what it led to is committed.
type tasksRequest struct {
	caller  uint64
	cancels bool            // that the tasks end; else that they are run again
	left    map[uint32]bool // tasks of which that is not committed; never iterated
}

// cancelTasks ends those of a job's tasks that the event names and that have not ended. Each end is an entry of the
// register like any other, so that a new owner keeps it. The caller is answered as that of a cancelled job is: when all
// of these entries are committed and no attempt of the tasks can start any more.
func (c *Coordinator) cancelTasks(now grid.Time, j *job, ev *grid.Event, fx *grid.Effects) {
	rep, refuse := j.replica, func(text string) { fx.Reply(ev.Caller, j.id, text) }
	if why := j.lacks(ev.Tasks); why != "" {
		refuse(why)
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
	if !c.isOrigin(j.id) && unended > bulkEndBatch {
		refuse(fmt.Sprintf("job %s: %d of these tasks have not ended: a node that took the job over cancels at most %d at a "+
			"time", j.id.Short(), unended, bulkEndBatch))
		return
	}
	if why := c.quota.AdmitMore(j.id, grid.Bytes(unended)*entryBytes); why != "" {
		refuse(fmt.Sprintf("job %s: its owner has no room to record that %d tasks end: %s", j.id.Short(), unended, why))
		return
	}
	if unended > 0 {
		c.raiseBarrier(now, j, j.unendedOf(ev.Tasks), fx)
		c.cancelEach(now, j, ev.Tasks, fx)
	}
	r := tasksRequest{caller: ev.Caller, cancels: true, left: map[uint32]bool{}}
	for k := range ev.Tasks.Len() {
		if i := ev.Tasks.At(k); j.at(i).uncommitted {
			r.left[i] = true
		}
	}
	if len(r.left) == 0 {
		c.awaitCurrent(now, j, ev.Caller, fx)
		return
	}
	rep.requests = append(rep.requests, r)
}

func (c *Coordinator) cancelEach(now grid.Time, j *job, tasks indices.Set, fx *grid.Effects) {
	for k := range tasks.Len() {
		if i := tasks.At(k); j.state(i) != grid.Ended {
			c.end(now, j, i, cancelledResult, fx)
		}
	}
}

// lacks says that a job does not have all of these tasks; "" = it has.
func (j *job) lacks(tasks indices.Set) string {
	if j.spec.IsGang() {
		return fmt.Sprintf("job %s: its tasks are the ranks of a gang, which end together: cancel the job", j.id.Short())
	}
	for _, r := range tasks {
		if r.Last >= j.spec.Count {
			return fmt.Sprintf("job %s: task %d: want an index of 0 to %d", j.id.Short(), r.Last, j.spec.Count-1)
		}
	}
	return ""
}

// unendedOf iterates over those of the tasks that have not ended.
func (j *job) unendedOf(tasks indices.Set) iter.Seq2[uint32, *task] {
	return func(yield func(uint32, *task) bool) {
		for k := range tasks.Len() {
			if i := tasks.At(k); j.state(i) != grid.Ended && !yield(i, j.at(i)) {
				return
			}
		}
	}
}

// withdraws reports whether a caller has cancelled that task, and waits for its end.
func (r *replica) withdraws(i uint32) bool {
	return slices.ContainsFunc(r.requests, func(x tasksRequest) bool { return x.cancels && x.left[i] })
}

// answerRequests answers the callers of which no further task is waited for, now that what became of a task is
// committed: that it ended, or that it is run again.
func (c *Coordinator) answerRequests(now grid.Time, j *job, i uint32, ended bool, fx *grid.Effects) {
	rep := j.replica
	for k := 0; k < len(rep.requests); {
		x := rep.requests[k]
		if x.cancels == ended {
			delete(x.left, i)
		}
		if len(x.left) > 0 {
			k++
			continue
		}
		if rep.requests = slices.Delete(rep.requests, k, k+1); x.cancels {
			c.awaitBarrier(now, j, x.caller, fx)
		} else {
			fx.Reply(x.caller, j.id, "")
		}
	}
}

// refuseRequests tells those who wait that this node does not decide about the job any more.
func (j *job) refuseRequests(fx *grid.Effects) {
	for _, x := range j.replica.cancellers {
		fx.Reply(x, j.id, "another node has taken the job over: cancel it again")
	}
	for _, x := range j.replica.requests {
		fx.Reply(x.caller, j.id, "another node has taken the job over: ask again")
	}
	j.replica.cancellers, j.replica.requests = nil, nil
	j.refuseRetries(fx)
}

// cancelRest cancels, as its owner, what has not ended of a job that is not cancelled. end is how its tasks end if its
// deadline is over; else nil.
func (c *Coordinator) cancelRest(now grid.Time, j *job, end *grid.Result, fx *grid.Effects) {
	c.raiseBarrier(now, j, j.known(), fx)
	c.dropGang(now, j, fx)
	j.cancelled = true
	c.dequeueJob(j)
	for _, t := range j.known() { // nothing more of it is placed: a bulk end may take long
		if t.live != nil && t.state == grid.Pending {
			c.dropLive(t.live)
		}
	}
	j.replica.Propose(j.newCancellation(c.wall.At(now).UnixNano(), end))
	c.saveEntry(j, j.spec.Count, fx)
	if c.isOrigin(j.id) {
		c.endAll(now, j, fx)
	} else {
		c.startBulkEnd(now, j, fx)
	}
}

// countFailure notes that a task of a job has failed, which may be the last one that may, or a job that it waits for.
func (c *Coordinator) countFailure(j *job) {
	most := j.spec.Rules.MaxFailures
	if (most > 0 && j.failed-j.withdrawn >= most || dependency.Vain(j.spec, j.replica) != "") && !j.cancelled &&
		j.leads() {
		c.queue.toCancel = append(c.queue.toCancel, j)
	}
}

// stopFailing cancels the rest of the jobs of which as many tasks have failed as may, or that wait in vain.
func (c *Coordinator) stopFailing(now grid.Time, fx *grid.Effects) {
	jobs := c.queue.toCancel
	c.queue.toCancel = nil
	for _, j := range jobs {
		if c.jobs.Get(j.id) == j && !j.cancelled && j.leads() && j.counts[grid.Ended] < j.count() {
			c.cancelRest(now, j, j.deadlineEnd(now), fx)
			c.wakeBarriers(now, fx)
		}
	}
}

// stopped says that a job was cancelled since too many of its tasks had failed, or since a job that it waited for had
// not ended as it should; "" = it was not.
func (j *job) stopped() string {
	most, failed := j.spec.Rules.MaxFailures, int32(0)
	if why := cmp.Or(j.missedText(), dependency.Vain(j.spec, j.replica)); why != "" && j.cancelled {
		return why
	}
	if most == 0 || !j.cancelled {
		return ""
	}
	for _, t := range j.known() {
		if t.state == grid.Ended && !t.uncommitted && t.result.Exit != 0 && !t.result.Cause.Withdrawn() {
			failed++
		}
	}
	if failed < most {
		return ""
	}
	return fmt.Sprintf("%d of its tasks failed, and max_failures is %d", failed, most)
}
