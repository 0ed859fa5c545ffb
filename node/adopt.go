package node

import "skep/grid"

// What a new owner does about the attempts that earlier owners made: it does not know them, their workers do.

// placeUnclaimed ends the limbo: whatever no worker has claimed is placed again, or lost if it must not run twice.
func (n *Node) placeUnclaimed(now grid.Time, j *job, fx *grid.Effects) {
	j.replica.graceUntil = 0
	j.nextFresh = 0
	switch {
	case j.cancelled: // all end already
	case j.spec.Retries == 0:
		n.startBulkEnd(now, j, fx)
	default:
		n.enqueueJob(j)
	}
}

// forgoUnclaimed leaves a task that is to run at most once alone when an attempt that an earlier owner made comes back without
// having run: that owner may have heard so too, and made another one, which this one does not know. It is lost unless
// a worker claims it before the limbo is over.
func (n *Node) forgoUnclaimed(now grid.Time, l *liveTask, fx *grid.Effects) bool {
	g := l.job.replica
	if g == nil || l.job.spec.Retries > 0 || l.task().attempt.Epoch >= g.fullHistoryFrom {
		return false
	}
	j, i := l.job, l.index
	n.setState(j, i, grid.Pending, fx)
	n.saveTask(j, i, fx)
	n.dropLive(l)
	if g.graceUntil == 0 {
		n.endAsLost(now, j, i, fx)
	}
	return true
}

// endAsLost ends a task that is to run at most once and of which nobody knows.
func (n *Node) endAsLost(now grid.Time, j *job, i uint32, fx *grid.Effects) {
	n.stats.Lost++
	n.end(now, j, i, &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep,
		Error: "lost: the node that it was submitted to is gone, nobody has it, and it was to run at most once"}, fx)
}

// adoptAttempt takes over an attempt of an earlier epoch that a worker claims, unless a newer one of the task is known.
func (n *Node) adoptAttempt(now grid.Time, from grid.NodeID, id grid.AttemptID, fx *grid.Effects) bool {
	j := n.job(id.Task.Job)
	if j == nil || j.replica == nil || !j.replica.reg.IsOwner() || id.Task.Index >= j.spec.Count ||
		id.Attempt == (grid.Attempt{}) || id.Epoch >= j.replica.reg.State().Epoch {
		return false
	}
	t := j.task(id.Task.Index)
	if t.state == grid.Ended || !t.attempt.Less(id.Attempt) {
		return false
	}
	if t.live != nil {
		n.dropLive(t.live)
	}
	t.attempt, t.worker, t.placed = id.Attempt, from, n.wall.At(now).UnixNano()
	l := n.newLiveTask(j, id.Task.Index)
	l.phase = placed
	n.startPromise(now, &l.promise)
	n.setState(j, id.Task.Index, grid.Placed, fx)
	n.saveEntry(j, id.Task.Index, fx)
	n.trace(t, grid.Trace{At: now, What: grid.TraceAccepted, Node: from})
	if from != n.cfg.Self {
		n.renewLease(now, l, fx)
	}
	return true
}
