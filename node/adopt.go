package node

import "skep/grid"

// What a new owner does about the attempts that earlier owners made: it does not know them, their workers do.

// replace ends the limbo: whatever no worker has claimed is placed again, or lost if it must not run twice.
func (n *Node) replace(now grid.Time, j *job, fx *grid.Effects) {
	j.guard.limbo = 0
	j.next = 0
	switch {
	case j.cancelled: // all end already
	case j.spec.Retries == 0:
		n.sweepUp(now, j, fx)
	default:
		n.lineUp(j)
	}
}

// forgo leaves a task that is to run at most once alone when an attempt that an earlier owner made comes back without
// having run: that owner may have heard so too, and made another one, which this one does not know. It is lost unless
// a worker claims it before the limbo is over.
func (n *Node) forgo(now grid.Time, l *live, fx *grid.Effects) bool {
	g := l.job.guard
	if g == nil || l.job.spec.Retries > 0 || l.t().attempt.Epoch >= g.known {
		return false
	}
	j, i := l.job, l.index
	n.setState(j, i, grid.Pending, fx)
	n.saveTask(j, i, fx)
	n.drop(l)
	if g.limbo == 0 {
		n.lost(now, j, i, fx)
	}
	return true
}

// lost ends a task that is to run at most once and of which nobody knows.
func (n *Node) lost(now grid.Time, j *job, i uint32, fx *grid.Effects) {
	n.stats.Lost++
	n.end(now, j, i, &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep,
		Error: "lost: the node that it was submitted to is gone, nobody has it, and it was to run at most once"}, fx)
}

// adopt takes over an attempt of an earlier epoch that a worker claims, unless a newer one of the task is known.
func (n *Node) adopt(now grid.Time, from grid.NodeID, id grid.AttemptID, fx *grid.Effects) bool {
	j := n.job(id.Task.Job)
	if j == nil || j.guard == nil || !j.guard.reg.Leads() || id.Task.Index >= j.spec.Count ||
		id.Attempt == (grid.Attempt{}) || id.Epoch >= j.guard.reg.State().Epoch {
		return false
	}
	t := j.task(id.Task.Index)
	if t.state == grid.Ended || !t.attempt.Less(id.Attempt) {
		return false
	}
	if t.live != nil {
		n.drop(t.live)
	}
	t.attempt, t.worker, t.placed = id.Attempt, from, n.wall.At(now).UnixNano()
	l := n.enliven(j, id.Task.Index)
	l.phase = placed
	n.setOut(now, &l.word)
	n.setState(j, id.Task.Index, grid.Placed, fx)
	n.saveEntry(j, id.Task.Index, fx)
	n.trace(t, grid.Trace{At: now, What: grid.TraceAccepted, Node: from})
	if from != n.cfg.Self {
		n.lease(now, l, fx)
	}
	return true
}
