package node

import (
	"fmt"
	"slices"
	"strings"

	"skep/balance"
	"skep/grid"
)

// What a failure is, and what follows from it, is told in DESIGN.md: a node that fails a class which others run is
// avoided for that class, and a task that fails on several nodes ends.

// recordFailure counts how a task of a class ended at the node that had it.
func (n *Node) recordFailure(now grid.Time, class string, worker grid.NodeID, good bool) {
	if n.failures.record(now, class, worker, good) {
		n.rates.stale = true
	}
}

// recordEnd counts a result: what ended by its own time limit or was cancelled says nothing.
func (n *Node) recordEnd(now grid.Time, class string, worker grid.NodeID, r *grid.Result) {
	switch r.Cause {
	case grid.Exited, grid.Signaled, grid.MemoryExceeded:
		n.recordFailure(now, class, worker, r.Succeeded())
	case grid.CannotExecute, grid.NotFound, grid.Failed:
		n.recordFailure(now, class, worker, false)
	}
}

// blacklistOf returns what this node is wary of for a class; nil = nobody, which is nearly always so.
func (n *Node) blacklistOf(class string) *classFailures {
	if c := n.failures.class(class); c != nil && c.listed > 0 {
		return c
	}
	return nil
}

// isBlacklisted reports whether a node is left out, and sees to it that the next allocation knows. c may be nil.
func (n *Node) isBlacklisted(now grid.Time, c *classFailures, id grid.NodeID) bool {
	if c == nil {
		return false
	}
	b := c.node(id)
	if b == nil || b.until == 0 {
		return false
	}
	out := c.blacklisted(now, b)
	if out != b.excluded {
		b.excluded, n.rates.stale = out, true
	}
	return out
}

// dropBlacklisted takes those out of the answers that have become avoided since they were asked, or have just got the task that tries
// them. What runs here or nowhere has no other answer.
func (n *Node) dropBlacklisted(now grid.Time, l *liveTask) {
	if c := n.blacklistOf(l.class()); c != nil && !l.tryBlacklisted && !n.isLocal(l.job) {
		l.answers = slices.DeleteFunc(l.answers, func(s balance.State) bool { return n.isBlacklisted(now, c, s.Node) })
	}
}

// probeBlacklisted notes that a node which was avoided gets a task.
func (n *Node) probeBlacklisted(now grid.Time, class string, id grid.NodeID) {
	if c := n.blacklistOf(class); c != nil {
		if b := c.node(id); b != nil {
			b.probe(now)
		}
	}
}

// maxTracedExclusions bounds the avoided nodes that a task's story names.
const maxTracedExclusions = 3

// traceBlacklisted notes once in a task's story who was left out.
func (n *Node) traceBlacklisted(now grid.Time, l *liveTask) {
	c := n.blacklistOf(l.class())
	if c == nil || l.blacklistTraced {
		return
	}
	left := maxTracedExclusions
	for i := range c.nodes {
		if b := &c.nodes[i]; b.excluded && left > 0 {
			n.trace(l.task(), grid.Trace{At: now, What: grid.TraceRefused, Node: b.node, Refusal: grid.Refusal{Why: grid.WhyAvoided, Detail: b.describe()}})
			left--
			l.blacklistTraced = true
		}
	}
}

// Avoided tells why a node gets nothing of a class now; its reason is WhyNone if it may.
func (n *Node) Avoided(now grid.Time, class string, id grid.NodeID) grid.Refusal {
	c := n.blacklistOf(class)
	if c == nil {
		return grid.Refusal{}
	}
	if b := c.node(id); b != nil && c.blacklisted(now, b) {
		return grid.Refusal{Why: grid.WhyAvoided, Detail: b.describe()}
	}
	return grid.Refusal{}
}

// failedOn is a node that a task failed on.
type failedOn struct {
	node grid.NodeID
	why  grid.Refusal
}

// MaxStrikes bounds Config.Strikes, and the nodes that are remembered of a task that only its retries bound.
const MaxStrikes = 16

// countFailedNode notes that a task failed on a node, and returns why it ends now; "" = it goes on.
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

// displayName is a node's name, or the beginning of its identity.
func (n *Node) displayName(id grid.NodeID) string {
	if id == n.cfg.Self && n.cfg.Name != "" {
		return n.cfg.Name
	}
	if g := n.gossip.Peer(id); g != nil && g.Ad != nil && g.Ad.Name != "" {
		return g.Ad.Name
	}
	return id.Short()
}
