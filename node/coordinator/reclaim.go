package coordinator

import (
	"slices"

	"skep/balance"
	"skep/grid"
)

// attemptReturned takes an attempt off its worker's outstanding ones, before anything else about it changes;
// delivered = it brought a result.
func (c *Coordinator) attemptReturned(now grid.Time, p *grid.Promise, worker grid.NodeID, delivered bool) {
	if c.peers.Returned(now, p, worker, delivered) {
		c.ResumeAwaitingProof()
	}
}

// isStraggler reports whether a task's attempt is so old that it is reclaimed. Not a task that may run at most once, and
// not where all rates are given.
func (c *Coordinator) isStraggler(now grid.Time, l *liveTask) bool {
	to := l.task().worker
	return to != c.cfg.Self && l.result == nil && l.phase == placed && l.job.spec.Retries > 0 &&
		c.peers.IsStraggler(now, &l.promise, to, l.class(), l.job.spec, l.reclaims)
}

// reclaimStraggler takes a task back from a node that does not end it. This does not count against the task's retries:
// the node may be well, and the task long.
func (c *Coordinator) reclaimStraggler(now grid.Time, l *liveTask, fx *grid.Effects) {
	t, why := l.task(), grid.Refusal{Why: grid.WhyStuck}
	c.peers.Reclaimed(now, t.worker)
	c.attemptReturned(now, &l.promise, t.worker, false)
	c.stats.Lost++
	c.trace(t, grid.Trace{At: now, What: grid.TraceLost, Node: t.worker, Refusal: why})
	c.dropAttempt(now, l, t.worker, l.id(), fx)
	l.reclaims = min(l.reclaims+1, grid.MaxReclaims)
	l.promise.Expected = 0
	l.excluded = append(l.excluded, exclusion{node: t.worker, why: why, until: now.Add(c.cfg.Lease), preference: true})
	if l.backup != nil {
		c.promoteBackup(now, l, fx)
		return
	}
	c.live.become(l, idle)
	c.setState(l.job, l.index, grid.Pending, fx)
	c.saveEntry(l.job, l.index, fx)
	c.retry(l)
}

// Tasks that exceed the bound on the run time of their class. A task that runs longer was declared too small and delays the small tasks behind
// it. It is stopped, and its owner places it again with the next class, which may belong to other nodes [4 of
// balance, sections 3.4 and 14: the bound theta of a class]. That is not a loss. A task that may run at most once is
// exempt.

// maxDemotions bounds how often a task changes its class.
const maxDemotions = 4

// demotion records a task's earlier class and the worker that found it too small.
type demotion struct {
	node  grid.NodeID
	class string
}

// mayDemoteTo reports whether a worker may move the task to that class: not to a class that it had before, and at
// most maxDemotions times. Otherwise the result is an ordinary loss.
func (l *liveTask) mayDemoteTo(next string) bool {
	return next != "" && grid.ValidClass(next) && next != l.class() && l.job.spec.Retries > 0 && len(l.demotions) < maxDemotions &&
		!slices.ContainsFunc(l.demotions, func(d demotion) bool { return d.class == next })
}

// demote places a task again with the class that its worker named, and reports whether the result was a valid
// demotion. Only the worker knows whether the task really ran too long. So the result is no delivery, other nodes are
// preferred, and it counts as a failure of the old class at that worker.
func (c *Coordinator) demote(now grid.Time, l *liveTask, r *grid.Result, fx *grid.Effects) bool {
	if !l.mayDemoteTo(r.Next) {
		return false
	}
	worker, next := l.task().worker, c.peers.Demoted(now, r.Next, l.job.spec)
	c.attemptReturned(now, &l.promise, worker, false)
	c.policies.Note(balance.Outcome{Kind: balance.Finished, At: now, Node: worker, Class: l.class()})
	c.peers.Failed(now, l.class(), worker)
	l.demotions = append(l.demotions, demotion{worker, l.class()})
	l.demotedTo, l.request.Class = next, next
	c.trace(l.task(), grid.Trace{At: now, What: grid.TraceDemoted, Node: worker, Refusal: grid.Refusal{Detail: next}})
	c.setState(l.job, l.index, grid.Pending, fx)
	c.saveEntry(l.job, l.index, fx)
	c.retry(l)
	return true
}

// demotedBy reports whether that node has demoted the task.
func (l *liveTask) demotedBy(id grid.NodeID) bool {
	return slices.ContainsFunc(l.demotions, func(d demotion) bool { return d.node == id })
}
