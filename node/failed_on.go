package node

import (
	"fmt"
	"slices"
	"strings"

	"skep/grid"
)

// failedOn is a node on which a task failed, and why.
type failedOn struct {
	node grid.NodeID
	why  grid.Refusal
}

// MaxStrikes bounds Config.Strikes, and the failed nodes remembered for a task that only its retries bound.
const MaxStrikes = 16

// countFailedNode records that a task failed on a node. It returns the reason if the task ends now, "" if it goes on.
func (c *coordinator) countFailedNode(l *liveTask, id grid.NodeID, why grid.Refusal) string {
	if !slices.ContainsFunc(l.failedOn, func(s failedOn) bool { return s.node == id }) {
		if len(l.failedOn) == MaxStrikes {
			l.failedOn = slices.Delete(l.failedOn, 0, 1)
		}
		l.failedOn = append(l.failedOn, failedOn{id, why})
	}
	if c.cfg.Strikes == 0 || len(l.failedOn) < c.cfg.Strikes {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "it failed on %d nodes: ", len(l.failedOn))
	for i, s := range l.failedOn {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s %s", c.displayName(s.node), s.why.Why)
		if s.why.Detail != "" {
			fmt.Fprintf(&b, " (%s)", s.why.Detail)
		}
	}
	return clip(b.String())
}

// displayName returns a node's name, or its short ID if it has none.
func (c *coordinator) displayName(id grid.NodeID) string {
	if own := c.profile.Name(); id == c.cfg.Self && own != "" {
		return own
	}
	if g := c.gossip.Peer(id); g != nil && g.Ad != nil && g.Ad.Name != "" {
		return g.Ad.Name
	}
	return id.Short()
}
