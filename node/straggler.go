package node

import (
	"skep/grid"
)

// givenAttempt adds an attempt to its worker's outstanding ones, of which ect seconds are expected until its end.
func (c *coordinator) givenAttempt(now grid.Time, p *grid.Promise, class string, id grid.NodeID, ect float64) {
	if len(c.cfg.Given) == 0 && id != c.cfg.Self { // else nothing is doubted
		c.records.Given(now, p, id, ect, c.expected(class))
	}
}

// attemptReturned takes an attempt off its worker's outstanding ones, before anything else about it changes;
// delivered = it brought a result.
func (c *coordinator) attemptReturned(now grid.Time, p *grid.Promise, worker grid.NodeID, delivered bool) {
	if c.records.Returned(now, p, worker, delivered) {
		c.resumeAwaitingProof()
	}
}

// isStraggler reports whether a task's attempt is so old that it is reclaimed. Not a task that may run at most once, and
// not where all rates are given.
func (c *coordinator) isStraggler(now grid.Time, l *liveTask) bool {
	to := l.task().worker
	if to == c.cfg.Self || l.result != nil || l.phase != placed || l.job.spec.Retries == 0 || len(c.cfg.Given) > 0 {
		return false
	}
	x, usual := c.rates.Class(l.class()), c.expected(l.class())
	if x == nil || usual == 0 { // no task of the class has ever ended
		return false
	}
	return c.records.Straggler(now, &l.promise, to, grid.RunEstimate{
		RunTime: usual, Variation: x.EndVariation(), Known: x.Known(), Fetch: c.fetchTime(l.job.spec),
		Limit: l.job.spec.Timeout, Reclaims: l.reclaims,
	})
}

// reclaimStraggler takes a task back from a node that does not end it. This does not count against the task's retries:
// the node may be well, and the task long.
func (c *coordinator) reclaimStraggler(now grid.Time, l *liveTask, fx *grid.Effects) {
	t, why := l.task(), grid.Refusal{Why: grid.WhyStuck}
	c.records.Reclaimed(now, t.worker)
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
