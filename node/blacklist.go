package node

import (
	"slices"

	"skep/balance"
	"skep/grid"
)

// dropBlacklisted removes the answers of nodes that were blacklisted since the poll, or are being probed by another
// task. Tasks that run only here are exempt: they have no other answer.
func (n *Node) dropBlacklisted(now grid.Time, l *liveTask) {
	if c := n.failures.Blacklist(l.class()); c != nil && !l.tryBlacklisted && !n.isLocal(l.job) {
		l.answers = slices.DeleteFunc(l.answers, func(s balance.State) bool { return n.failures.Excludes(now, c, s.Node) })
	}
}

// maxTracedExclusions bounds the blacklisted nodes in a task's trace.
const maxTracedExclusions = 3

// traceBlacklisted records, once per task, which nodes were blacklisted.
func (n *Node) traceBlacklisted(now grid.Time, l *liveTask) {
	c := n.failures.Blacklist(l.class())
	if c == nil || l.blacklistTraced {
		return
	}
	left := maxTracedExclusions
	for id, why := range c.Excluded() {
		if left == 0 {
			return
		}
		n.trace(l.task(), grid.Trace{At: now, What: grid.TraceRefused, Node: id, Refusal: why})
		left--
		l.blacklistTraced = true
	}
}

// Blacklisted returns the reason why a node gets no task of a class now; WhyNone if it may.
func (n *Node) Blacklisted(now grid.Time, class string, id grid.NodeID) grid.Refusal {
	return n.failures.Refusal(now, class, id)
}
