package coordinator

import "skep/grid"

// Ending many tasks after a takeover: all unclaimed tasks of a job that may run at most once, or all unended tasks of
// a cancelled job. A job of 100,000 tasks costs its submitter one small message, so the tasks end in batches, and
// only as far as the quota has room for their entries (package quota). No task of the job is placed before that is
// done.

// bulkEndBatch is the number of tasks, of all jobs together, that end in one step: about 1 MB of records.
const bulkEndBatch = 2000

// bulkEnd is the progress of a bulk end.
type bulkEnd struct {
	on     bool
	queued bool   // in bulkEnds.queue
	next   uint32 // tasks below it are done
}

// bulkEnds are the jobs whose tasks end in bulk.
type bulkEnds struct {
	queue []*job // those whose next batch is due at once
	left  int    // tasks that may still end in this step
}

func (c *Coordinator) startBulkEnd(now grid.Time, j *job, fx *grid.Effects) {
	s := &j.replica.bulkEnd
	s.on, s.next = true, 0
	c.continueBulkEnd(now, j, fx)
}

// Results of tasks that end in bulk. They are shared: nobody changes a result.
var (
	cancelledResult = &grid.Result{Cause: grid.Cancelled, Exit: 130, Error: "cancelled"}
	unclaimedResult = &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep,
		Error: "lost: the node that it was submitted to is gone, nobody has it, and it was to run at most once"}
)

// continueBulkEnd ends the next batch, and queues the job for placement when all are done. Without quota it stops;
// the register's timer calls it again.
func (c *Coordinator) continueBulkEnd(now grid.Time, j *job, fx *grid.Effects) {
	s := &j.replica.bulkEnd
	if !s.on || !j.leads() || !j.cancelled && !c.mayAct(now, j) {
		return
	}
	for ; s.next < j.spec.Count; s.next++ {
		t := j.at(s.next)
		if t.state == grid.Ended || !j.cancelled && t.live != nil {
			continue
		}
		if c.bulkEnds.left == 0 {
			c.queueBulkEnd(now, j, fx)
			return
		}
		if c.ledger.AdmitMore(j.id, entryBytes) != "" {
			return
		}
		c.bulkEnds.left--
		if j.cancelled {
			c.end(now, j, s.next, cancelledResult, fx)
		} else {
			c.endAsLost(now, j, s.next, fx)
		}
	}
	if s.on = false; !j.cancelled {
		c.enqueueJob(j)
	}
}

// queueBulkEnd has a job's next batch end in a step to come.
func (c *Coordinator) queueBulkEnd(now grid.Time, j *job, fx *grid.Effects) {
	if j.replica.bulkEnd.queued {
		return
	}
	j.replica.bulkEnd.queued = true
	if c.bulkEnds.queue = append(c.bulkEnds.queue, j); len(c.bulkEnds.queue) == 1 {
		fx.Wake(now, grid.TimerRegister, bulkEndKey)
	}
}

// continueBulkEnds continues the jobs whose next batch is due, in turns.
func (c *Coordinator) continueBulkEnds(now grid.Time, fx *grid.Effects) {
	jobs := c.bulkEnds.queue
	c.bulkEnds.queue = nil
	for _, j := range jobs {
		j.replica.bulkEnd.queued = false
		switch {
		case c.peekJob(j.id) != j:
		case c.bulkEnds.left == 0:
			c.queueBulkEnd(now, j, fx)
		default:
			c.continueBulkEnd(now, j, fx)
		}
	}
}

// Attempts of earlier epochs after a takeover: the new owner does not know them, only their workers do.

// placeUnclaimed ends the takeover grace: tasks that no worker has claimed are placed again, or end as lost if they
// may run at most once.
func (c *Coordinator) placeUnclaimed(now grid.Time, j *job, fx *grid.Effects) {
	j.replica.graceUntil = 0
	j.nextFresh = 0
	switch {
	case j.cancelled: // continueBulkEnd ends its tasks
	case j.spec.Retries == 0:
		c.startBulkEnd(now, j, fx)
	default:
		c.enqueueJob(j)
	}
}

// forgoUnclaimed handles an attempt of an earlier epoch that comes back without having run, of a task that may run at
// most once. The earlier owner may have received the same answer and made another attempt, unknown here. So the task
// is not placed again; it ends as lost unless a worker claims it before the takeover grace is over. It reports
// whether it handled the task.
func (c *Coordinator) forgoUnclaimed(now grid.Time, l *liveTask, fx *grid.Effects) bool {
	rep := l.job.replica
	if l.job.spec.Retries > 0 || l.task().attempt.Epoch >= rep.fullHistoryFrom {
		return false
	}
	j, i := l.job, l.index
	c.setState(j, i, grid.Pending, fx)
	c.saveEntry(j, i, fx)
	c.dropLive(l)
	if rep.graceUntil == 0 {
		c.endAsLost(now, j, i, fx)
	}
	return true
}

// endAsLost ends a task that may run at most once and that no worker claims.
func (c *Coordinator) endAsLost(now grid.Time, j *job, i uint32, fx *grid.Effects) {
	c.stats.Lost++
	c.end(now, j, i, unclaimedResult, fx)
}

// adoptAttempt takes over an attempt of an earlier owner that a worker claims, unless this node knows a newer attempt
// of the task. An attempt of an epoch of which this node knows every attempt is known, or was never made.
func (c *Coordinator) adoptAttempt(now grid.Time, from grid.NodeID, id grid.AttemptID, fx *grid.Effects) {
	j := c.job(id.Task.Job)
	if j == nil || !j.replica.IsOwner() || id.Task.Index >= j.spec.Count ||
		id.Attempt == (grid.Attempt{}) || id.Epoch >= j.replica.fullHistoryFrom {
		return
	}
	t := j.task(id.Task.Index)
	if t.state == grid.Ended || !t.attempt.Less(id.Attempt) {
		return
	}
	if t.live != nil {
		c.dropLive(t.live)
	}
	t.attempt, t.worker, t.placed = id.Attempt, from, c.wall.At(now).UnixNano()
	l := c.newLiveTask(j, id.Task.Index)
	c.live.become(l, placed)
	c.peers.Start(now, &l.promise)
	c.setState(j, id.Task.Index, grid.Placed, fx)
	c.saveEntry(j, id.Task.Index, fx)
	c.trace(t, grid.Trace{At: now, What: grid.TraceAccepted, Node: from})
	c.renewLease(now, l, fx)
}

// graceEntry is a job in its takeover grace.
type graceEntry struct {
	job   *job
	until grid.Time
}

// endGrace places the unclaimed tasks of the jobs whose takeover grace is over. Entries expire in FIFO order: all share
// one duration.
func (c *Coordinator) endGrace(now grid.Time, fx *grid.Effects) {
	for len(c.grace) > 0 && now >= c.grace[0].until {
		j := c.grace[0].job
		c.grace[0], c.grace = graceEntry{}, c.grace[1:]
		if rep := j.replica; rep.graceUntil != 0 && now >= rep.graceUntil && c.mayAct(now, j) { // else tickReplica does it later
			c.placeUnclaimed(now, j, fx)
		}
	}
	if len(c.grace) == 0 {
		c.grace = nil
	}
}
