package node

import "skep/grid"

// Attempts of earlier epochs after a takeover: the new owner does not know them, only their workers do.

// placeUnclaimed ends the takeover grace: tasks that no worker has claimed are placed again, or end as lost if they
// may run at most once.
func (c *coordinator) placeUnclaimed(now grid.Time, j *job, fx *grid.Effects) {
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
func (c *coordinator) forgoUnclaimed(now grid.Time, l *liveTask, fx *grid.Effects) bool {
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
func (c *coordinator) endAsLost(now grid.Time, j *job, i uint32, fx *grid.Effects) {
	c.stats.Lost++
	c.end(now, j, i, unclaimedResult, fx)
}

// adoptAttempt takes over an attempt of an earlier epoch that a worker claims, unless this node knows a newer attempt
// of the task.
func (c *coordinator) adoptAttempt(now grid.Time, from grid.NodeID, id grid.AttemptID, fx *grid.Effects) bool {
	j := c.job(id.Task.Job)
	if j == nil || !j.replica.IsOwner() || id.Task.Index >= j.spec.Count ||
		id.Attempt == (grid.Attempt{}) || id.Epoch >= j.replica.State().Epoch {
		return false
	}
	t := j.task(id.Task.Index)
	if t.state == grid.Ended || !t.attempt.Less(id.Attempt) {
		return false
	}
	if t.live != nil {
		c.dropLive(t.live)
	}
	t.attempt, t.worker, t.placed = id.Attempt, from, c.wall.At(now).UnixNano()
	l := c.newLiveTask(j, id.Task.Index)
	c.live.become(l, placed)
	c.records.Start(now, &l.promise)
	c.setState(j, id.Task.Index, grid.Placed, fx)
	c.saveEntry(j, id.Task.Index, fx)
	c.trace(t, grid.Trace{At: now, What: grid.TraceAccepted, Node: from})
	c.renewLease(now, l, fx)
	return true
}
