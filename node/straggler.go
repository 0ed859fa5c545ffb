package node

import (
	"skep/grid"
	"skep/node/reputation"
)

// givenAttempt adds an attempt to its worker's outstanding ones, of which ect seconds are expected until its end.
func (n *Node) givenAttempt(now grid.Time, p *reputation.Promise, class string, id grid.NodeID, ect float64) {
	if len(n.cfg.Given) == 0 && id != n.cfg.Self { // else nothing is doubted
		n.records.Open(id).Given(now, p, ect, n.expected(class))
	}
}

// attemptReturned takes an attempt off its worker's outstanding ones, before anything else about it changes;
// delivered = it brought a result.
func (n *Node) attemptReturned(now grid.Time, p *reputation.Promise, worker grid.NodeID, delivered bool) {
	if n.records.Returned(now, p, worker, delivered) {
		n.resumeAwaitingProof()
	}
}

// isStraggler reports whether a task's attempt is so old that it is reclaimed. Not a task that may run at most once, and
// not where all rates are given.
func (n *Node) isStraggler(now grid.Time, l *liveTask) bool {
	to := l.task().worker
	if to == n.cfg.Self || l.result != nil || l.phase != placed || l.job.spec.Retries == 0 || len(n.cfg.Given) > 0 {
		return false
	}
	c, usual := n.rates.Class(l.class()), n.expected(l.class())
	if c == nil || usual == 0 { // no task of the class has ever ended
		return false
	}
	return n.records.Straggler(now, &l.promise, to, reputation.Usual{
		RunTime: usual, Variation: c.EndVariation(), Known: c.Known(), Fetch: n.fetchTime(l.job.spec),
		Limit: l.job.spec.Timeout, Reclaims: l.reclaims,
	})
}

// reclaimStraggler takes a task back from a node that does not end it. This does not count against the task's retries:
// the node may be well, and the task long.
func (n *Node) reclaimStraggler(now grid.Time, l *liveTask, fx *grid.Effects) {
	t, why := l.task(), grid.Refusal{Why: grid.WhyStuck}
	n.records.Reclaimed(now, t.worker)
	n.attemptReturned(now, &l.promise, t.worker, false)
	n.stats.Lost++
	n.trace(t, grid.Trace{At: now, What: grid.TraceLost, Node: t.worker, Refusal: why})
	n.dropAttempt(now, l, t.worker, l.id(), fx)
	l.reclaims = min(l.reclaims+1, reputation.MaxReclaims)
	l.promise.Void()
	l.excluded = append(l.excluded, exclusion{node: t.worker, why: why, until: now.Add(n.cfg.Lease), preference: true})
	if l.backup != nil {
		n.promoteBackup(now, l, fx)
		return
	}
	l.phase = idle
	n.setState(l.job, l.index, grid.Pending, fx)
	n.saveEntry(l.job, l.index, fx)
	n.retry(l)
}
