package node

import (
	"fmt"
	"slices"
	"time"

	"skep/discovery"
	"skep/grid"
)

// searchAnswered handles the answer to a search: the node found is dialled, or no node can run the task.
func (c *coordinator) searchAnswered(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	var f discovery.Found
	var ok bool
	if m.Kind == grid.KindHit {
		if len(m.Digest) == 0 || m.Digest[0].Ad == nil {
			c.stats.Stale++
			return
		}
		c.gossip.Hear(now, from, m.Digest[:1], fx, c.adNews(now, fx))
		f, ok = c.discovery.Hit(now, from, m)
	} else {
		f, ok = c.discovery.Miss(now, &m.Find, c.gossip.Neighbours(), fx)
	}
	if ok {
		c.searchDone(now, f, fx)
	}
}

func (c *coordinator) searchTimer(now grid.Time, t grid.Timer, fx *grid.Effects) {
	if f, ok := c.discovery.Wake(now, t, c.gossip.Neighbours(), c.selfIfFits, fx); ok {
		c.searchDone(now, f, fx)
	}
}

// searchDone resumes the tasks that waited for a search.
func (c *coordinator) searchDone(now grid.Time, f discovery.Found, fx *grid.Effects) {
	if f.Ad != nil {
		c.dial(now, f.Ad.Node, fx)
		c.readmit(now, f.Ad, fx)
	}
	for _, l := range slices.Clone(c.live.waiting.list) {
		if l.search != f.ID || l.phase != waiting {
			continue
		}
		l.search = 0
		if f.Ad != nil {
			c.trace(l.task(), grid.Trace{At: now, What: grid.TraceSearch, Node: f.Ad.Node, Refusal: grid.Refusal{Detail: c.searchMethod(&f)}})
		}
		if f.Ad == nil || l.neverFits(f.Ad.Node) { // another search would find the same node
			l.job.noSearchBefore = now.Add(searchRetryAfter)
		} else if why := c.notReady(f.Ad.Node, l.job.spec); why != "" {
			if l.tries++; l.tries > maxDials {
				l.job.noSearchBefore = now.Add(searchRetryAfter)
			}
			c.dequeue(l)
			c.waitFor(now, l, dialPause, grid.Refusal{Why: grid.WhyGone, Detail: why}, fx)
			continue
		}
		l.lookAgain = true // other tasks of its job may wait for this one
		c.resumeTask(l)
	}
}

// readmit puts a connected node that a search found back into the view if newer peers have displaced it: only nodes in
// the view can be given tasks, and the same search would find the same node again.
func (c *coordinator) readmit(now grid.Time, ad *grid.Ad, fx *grid.Effects) {
	if c.isConnected(ad.Node) && c.gossip.Peer(ad.Node) == nil {
		c.gossip.Up(now, ad.Node, 0, fx)
		c.gossip.Hear(now, c.cfg.Self, []grid.AdEntry{{Ad: ad}}, fx, c.adNews(now, fx))
	}
}

// notReady returns why tasks cannot yet be placed on a node that a search found; "" = they can. The view may know newer
// facts than the search.
func (c *coordinator) notReady(id grid.NodeID, spec *grid.JobSpec) string {
	q := c.peers.get(id)
	if q == nil || !q.up {
		return "a node that fits is being dialled"
	}
	if g := c.gossip.Peer(id); !q.takesWork || g == nil || g.Ad == nil || discovery.Fit(&spec.Needs, spec.Engine, g.Ad) != grid.WhyNone {
		return "a node that was found says that it does not fit"
	}
	return ""
}

// searchMethod describes how a node was found.
func (c *coordinator) searchMethod(f *discovery.Found) string {
	if f.Called {
		return "by a call"
	}
	return fmt.Sprintf("hops: %d, by %s", f.Hops, c.cfg.Discovery.Forward)
}

// dialled is a node to which a connection was requested for tasks or registers, beyond the overlay's own.
type dialled struct {
	node  grid.NodeID
	until grid.Time
	asked grid.Time // when the connection was last requested
}

const (
	// keepDialled is how long such a connection is kept after a task last needed it.
	keepDialled = 10 * time.Minute

	// maxDialled bounds these connections. Members of other nodes' registers get half of them: whoever writes a
	// register names its members.
	maxDialled = 256
)

// dial requests a connection to a node that fits a task or is a member of a register, once in a step.
func (c *coordinator) dial(now grid.Time, id grid.NodeID, fx *grid.Effects) {
	c.dialAmong(now, id, maxDialled, fx)
}

// contacts is the node's connections for its worker, for the members of registers, and for the choice of members.
type contacts struct{ c *coordinator }

// Connected implements [worker.Contacts].
func (c contacts) Connected(id grid.NodeID) bool { return c.c.isConnected(id) }

// Dial implements [worker.Contacts].
func (c contacts) Dial(now grid.Time, id grid.NodeID, fx *grid.Effects) { c.c.dial(now, id, fx) }

// Reach implements [replication.Contacts].
func (c contacts) Reach(now grid.Time, job grid.JobID, id grid.NodeID, fx *grid.Effects) bool {
	n := c.c
	if n.isConnected(id) {
		return true
	}
	most := maxDialled / 2
	if job.Origin == n.cfg.Self {
		most = maxDialled
	}
	return n.dialAmong(now, id, most, fx)
}

// dialAmong requests a connection, or returns false if there are that many others.
func (c *coordinator) dialAmong(now grid.Time, id grid.NodeID, most int, fx *grid.Effects) bool {
	at := slices.IndexFunc(c.dialled, func(d dialled) bool { return d.node == id })
	switch {
	case at < 0 && len(c.dialled) >= most:
		return false
	case at < 0:
		at, c.dialled = len(c.dialled), append(c.dialled, dialled{node: id, asked: -1})
	}
	d := &c.dialled[at]
	if d.until = now.Add(keepDialled); d.asked != now {
		d.asked = now
		fx.Links = append(fx.Links, grid.Link{Peer: id, Keep: true})
	}
	return true
}

// dropDialled releases connections that no task has needed for keepDialled, except those to overlay neighbours.
func (c *coordinator) dropDialled(now grid.Time, fx *grid.Effects) {
	c.dialled = slices.DeleteFunc(c.dialled, func(d dialled) bool {
		if d.until > now {
			return false
		}
		if g := c.gossip.Peer(d.node); g == nil || !g.Neighbour {
			fx.Links = append(fx.Links, grid.Link{Peer: d.node})
		}
		return true
	})
}
