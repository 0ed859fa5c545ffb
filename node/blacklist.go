package node

import (
	"fmt"
	"slices"
	"strings"

	"skep/balance"
	"skep/grid"
)

// Failures by class and node; DESIGN.md has the rules. A node that fails a class which other nodes run is blacklisted
// for that class; a task that fails on several nodes ends.

// recordFailure counts an end (good or failed) of a task of a class at its worker.
func (n *Node) recordFailure(now grid.Time, class string, worker grid.NodeID, good bool) {
	if n.failures.record(now, class, worker, good) {
		n.rates.stale = true
	}
}

// recordEnd counts a result. A time limit or a cancel says nothing about the node.
func (n *Node) recordEnd(now grid.Time, class string, worker grid.NodeID, r *grid.Result) {
	switch r.Cause {
	case grid.Exited, grid.Signaled, grid.MemoryExceeded:
		n.recordFailure(now, class, worker, r.Succeeded())
	case grid.CannotExecute, grid.NotFound, grid.Failed:
		n.recordFailure(now, class, worker, false)
	}
}

// blacklistOf returns the class's failure log if it lists any node, else nil, the usual case.
func (n *Node) blacklistOf(class string) *classFailures {
	if c := n.failures.class(class); c != nil && c.listed > 0 {
		return c
	}
	return nil
}

// isBlacklisted reports whether a node is blacklisted now. A change marks the allocation stale. c may be nil.
func (n *Node) isBlacklisted(now grid.Time, c *classFailures, id grid.NodeID) bool {
	if c == nil {
		return false
	}
	f := c.node(id)
	if f == nil || f.until == 0 {
		return false
	}
	listed := c.blacklisted(now, f)
	if listed != f.excluded {
		f.excluded, n.rates.stale = listed, true
	}
	return listed
}

// dropBlacklisted removes the answers of nodes that were blacklisted since the poll, or are being probed by another
// task. Tasks that run only here are exempt: they have no other answer.
func (n *Node) dropBlacklisted(now grid.Time, l *liveTask) {
	if c := n.blacklistOf(l.class()); c != nil && !l.tryBlacklisted && !n.isLocal(l.job) {
		l.answers = slices.DeleteFunc(l.answers, func(s balance.State) bool { return n.isBlacklisted(now, c, s.Node) })
	}
}

// probeBlacklisted records that a blacklisted node gets a task: its probe.
func (n *Node) probeBlacklisted(now grid.Time, class string, id grid.NodeID) {
	if c := n.blacklistOf(class); c != nil {
		if f := c.node(id); f != nil {
			f.probe(now)
		}
	}
}

// maxTracedExclusions bounds the blacklisted nodes in a task's trace.
const maxTracedExclusions = 3

// traceBlacklisted records, once per task, which nodes were blacklisted.
func (n *Node) traceBlacklisted(now grid.Time, l *liveTask) {
	c := n.blacklistOf(l.class())
	if c == nil || l.blacklistTraced {
		return
	}
	left := maxTracedExclusions
	for i := range c.nodes {
		if f := &c.nodes[i]; f.excluded && left > 0 {
			n.trace(l.task(), grid.Trace{At: now, What: grid.TraceRefused, Node: f.node, Refusal: grid.Refusal{Why: grid.WhyAvoided, Detail: f.describe()}})
			left--
			l.blacklistTraced = true
		}
	}
}

// Blacklisted returns the reason why a node gets no task of a class now; WhyNone if it may.
func (n *Node) Blacklisted(now grid.Time, class string, id grid.NodeID) grid.Refusal {
	c := n.blacklistOf(class)
	if c == nil {
		return grid.Refusal{}
	}
	if f := c.node(id); f != nil && c.blacklisted(now, f) {
		return grid.Refusal{Why: grid.WhyAvoided, Detail: f.describe()}
	}
	return grid.Refusal{}
}

// failedOn is a node on which a task failed, and why.
type failedOn struct {
	node grid.NodeID
	why  grid.Refusal
}

// MaxStrikes bounds Config.Strikes, and the failed nodes remembered for a task that only its retries bound.
const MaxStrikes = 16

// countFailedNode records that a task failed on a node. It returns the reason if the task ends now, "" if it goes on.
func (n *Node) countFailedNode(l *liveTask, id grid.NodeID, why grid.Refusal) string {
	if !slices.ContainsFunc(l.failedOn, func(s failedOn) bool { return s.node == id }) {
		if len(l.failedOn) == MaxStrikes {
			l.failedOn = slices.Delete(l.failedOn, 0, 1)
		}
		l.failedOn = append(l.failedOn, failedOn{id, why})
	}
	if n.cfg.Strikes == 0 || len(l.failedOn) < n.cfg.Strikes {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "it failed on %d nodes: ", len(l.failedOn))
	for i, s := range l.failedOn {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s %s", n.displayName(s.node), s.why.Why)
		if s.why.Detail != "" {
			fmt.Fprintf(&b, " (%s)", s.why.Detail)
		}
	}
	return clip(b.String())
}

// displayName returns a node's name, or its short ID if it has none.
func (n *Node) displayName(id grid.NodeID) string {
	if id == n.cfg.Self && n.cfg.Name != "" {
		return n.cfg.Name
	}
	if g := n.gossip.Peer(id); g != nil && g.Ad != nil && g.Ad.Name != "" {
		return g.Ad.Name
	}
	return id.Short()
}
