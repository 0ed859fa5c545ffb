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

// blame counts how a task of a class ended at the node that had it.
func (n *Node) blame(now grid.Time, class string, worker grid.NodeID, good bool) {
	if n.blames.learn(now, class, worker, good) {
		n.rates.stale = true
	}
}

// ending counts a result: what ended by its own time limit or was cancelled says nothing.
func (n *Node) ending(now grid.Time, class string, worker grid.NodeID, r *grid.Result) {
	switch r.Cause {
	case grid.Exited, grid.Signaled, grid.MemoryExceeded:
		n.blame(now, class, worker, r.Succeeded())
	case grid.CannotExecute, grid.NotFound, grid.Failed:
		n.blame(now, class, worker, false)
	}
}

// shuns returns what this node is wary of for a class; nil = nobody, which is nearly always so.
func (n *Node) shuns(class string) *blamed {
	if c := n.blames.class(class); c != nil && c.wary > 0 {
		return c
	}
	return nil
}

// avoids reports whether a node is left out, and sees to it that the next allocation knows. c may be nil.
func (n *Node) avoids(now grid.Time, c *blamed, id grid.NodeID) bool {
	if c == nil {
		return false
	}
	b := c.blame(id)
	if b == nil || b.until == 0 {
		return false
	}
	out := c.avoided(now, b)
	if out != b.shown {
		b.shown, n.rates.stale = out, true
	}
	return out
}

// spare takes those out of the answers that have become avoided since they were asked, or have just got the task that tries
// them. What runs here or nowhere has no other answer.
func (n *Node) spare(now grid.Time, l *live) {
	if c := n.shuns(l.class()); c != nil && !l.dares && !n.stays(l.job) {
		l.answers = slices.DeleteFunc(l.answers, func(s balance.State) bool { return n.avoids(now, c, s.Node) })
	}
}

// dare notes that a node which was avoided gets a task.
func (n *Node) dare(now grid.Time, class string, id grid.NodeID) {
	if c := n.shuns(class); c != nil {
		if b := c.blame(id); b != nil {
			b.try(now)
		}
	}
}

// mostTold bounds the avoided nodes that a task's story names.
const mostTold = 3

// tellAvoided notes once in a task's story who was left out.
func (n *Node) tellAvoided(now grid.Time, l *live) {
	c := n.shuns(l.class())
	if c == nil || l.told {
		return
	}
	left := mostTold
	for i := range c.nodes {
		if b := &c.nodes[i]; b.shown && left > 0 {
			n.trace(l.t(), grid.Trace{At: now, What: grid.TraceRefused, Node: b.node, Refusal: grid.Refusal{Why: grid.WhyAvoided, Detail: b.words()}})
			left--
			l.told = true
		}
	}
}

// Avoided tells why a node gets nothing of a class now; its reason is WhyNone if it may.
func (n *Node) Avoided(now grid.Time, class string, id grid.NodeID) grid.Refusal {
	c := n.shuns(class)
	if c == nil {
		return grid.Refusal{}
	}
	if b := c.blame(id); b != nil && c.avoided(now, b) {
		return grid.Refusal{Why: grid.WhyAvoided, Detail: b.words()}
	}
	return grid.Refusal{}
}

// struck is a node that a task failed on.
type struck struct {
	node grid.NodeID
	why  grid.Refusal
}

// MaxStrikes bounds Config.Strikes, and the nodes that are remembered of a task that only its retries bound.
const MaxStrikes = 16

// strike notes that a task failed on a node, and returns why it ends now; "" = it goes on.
func (n *Node) strike(l *live, id grid.NodeID, why grid.Refusal) string {
	if !slices.ContainsFunc(l.struck, func(s struck) bool { return s.node == id }) {
		if len(l.struck) == MaxStrikes {
			l.struck = slices.Delete(l.struck, 0, 1)
		}
		l.struck = append(l.struck, struck{id, why})
	}
	if n.cfg.Strikes == 0 || len(l.struck) < n.cfg.Strikes {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "it failed on %d nodes: ", len(l.struck))
	for i, s := range l.struck {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s %s", n.called(s.node), s.why.Why)
		if s.why.Detail != "" {
			fmt.Fprintf(&b, " (%s)", s.why.Detail)
		}
	}
	return clip(b.String())
}

// called is a node's name, or the beginning of its identity.
func (n *Node) called(id grid.NodeID) string {
	if id == n.cfg.Self && n.cfg.Name != "" {
		return n.cfg.Name
	}
	if g := n.gossip.Peer(id); g != nil && g.Ad != nil && g.Ad.Name != "" {
		return g.Ad.Name
	}
	return id.Short()
}
