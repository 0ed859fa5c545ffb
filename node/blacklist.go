package node

import (
	"slices"

	"skep/balance"
	"skep/grid"
)

// dropBlacklisted removes the answers of nodes that were blacklisted since the poll, or are being probed by another
// task. Tasks that run only here are exempt: they have no other answer.
func (c *coordinator) dropBlacklisted(now grid.Time, l *liveTask) {
	if x := c.failures.Blacklist(l.class()); x != nil && !l.tryBlacklisted && !c.isLocal(l.job) {
		l.answers = slices.DeleteFunc(l.answers, func(s balance.State) bool { return x.Excludes(now, s.Node) })
	}
}

// maxTracedExclusions bounds the blacklisted nodes in a task's trace.
const maxTracedExclusions = 3

// traceBlacklisted records, once per task, which nodes were blacklisted.
func (c *coordinator) traceBlacklisted(now grid.Time, l *liveTask) {
	x := c.failures.Blacklist(l.class())
	if x == nil || l.blacklistTraced {
		return
	}
	left := maxTracedExclusions
	for id, why := range x.Excluded() {
		if left == 0 {
			return
		}
		c.trace(l.task(), grid.Trace{At: now, What: grid.TraceRefused, Node: id, Refusal: why})
		left--
		l.blacklistTraced = true
	}
}

// Blacklisted returns the reason why a node gets no task of a class now; WhyNone if it may.
func (c *coordinator) Blacklisted(now grid.Time, class string, id grid.NodeID) grid.Refusal {
	return c.failures.Refusal(now, class, id)
}
