package node

import (
	"fmt"
	"slices"
	"time"

	"skep/discovery"
	"skep/grid"
)

// searchAnswered handles the answer to a search: the node found is dialled, or no node can run the task.
func (n *Node) searchAnswered(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	var f discovery.Found
	var ok bool
	if m.Kind == grid.KindHit {
		if len(m.Digest) == 0 || m.Digest[0].Ad == nil {
			n.stats.Stale++
			return
		}
		n.gossip.Hear(now, from, m.Digest[:1], fx, n.adNews(now, fx))
		f, ok = n.discovery.Hit(now, from, m)
	} else {
		f, ok = n.discovery.Miss(now, &m.Find, n.gossip.Neighbours(), fx)
	}
	if ok {
		n.searchDone(now, f, fx)
	}
}

func (n *Node) searchTimer(now grid.Time, t grid.Timer, fx *grid.Effects) {
	if f, ok := n.discovery.Wake(now, t, n.gossip.Neighbours(), n.selfIfFits, fx); ok {
		n.searchDone(now, f, fx)
	}
}

// searchDone resumes the tasks that waited for a search.
func (n *Node) searchDone(now grid.Time, f discovery.Found, fx *grid.Effects) {
	if f.Ad != nil {
		n.dial(now, f.Ad.Node, fx)
		n.readmit(now, f.Ad, fx)
	}
	for _, l := range slices.Clone(n.waiting.list) {
		if l.search != f.ID || l.phase != waiting {
			continue
		}
		l.search = 0
		if f.Ad != nil {
			n.trace(l.task(), grid.Trace{At: now, What: grid.TraceSearch, Node: f.Ad.Node, Refusal: grid.Refusal{Detail: n.searchMethod(&f)}})
		}
		if f.Ad == nil || l.neverFits(f.Ad.Node) { // another search would find the same node
			l.job.noSearchBefore = now.Add(searchRetryAfter)
		} else if why := n.notReady(f.Ad.Node, l.job.spec); why != "" {
			if l.tries++; l.tries > maxDials {
				l.job.noSearchBefore = now.Add(searchRetryAfter)
			}
			n.dequeue(l)
			n.waitFor(now, l, dialPause, grid.Refusal{Why: grid.WhyGone, Detail: why}, fx)
			continue
		}
		l.lookAgain = true // other tasks of its job may wait for this one
		n.resumeTask(l)
	}
}

// readmit puts a connected node that a search found back into the view if newer peers have displaced it: only nodes in
// the view can be given tasks, and the same search would find the same node again.
func (n *Node) readmit(now grid.Time, ad *grid.Ad, fx *grid.Effects) {
	if n.isConnected(ad.Node) && n.gossip.Peer(ad.Node) == nil {
		n.gossip.Up(now, ad.Node, 0, fx)
		n.gossip.Hear(now, n.cfg.Self, []grid.AdEntry{{Ad: ad}}, fx, n.adNews(now, fx))
	}
}

// notReady returns why tasks cannot yet be placed on a node that a search found; "" = they can. The view may know newer
// facts than the search.
func (n *Node) notReady(id grid.NodeID, spec *grid.JobSpec) string {
	q := n.peers.get(id)
	if q == nil || !q.up {
		return "a node that fits is being dialled"
	}
	if g := n.gossip.Peer(id); !q.takesWork || g == nil || g.Ad == nil || discovery.Fit(&spec.Needs, spec.Engine, g.Ad) != grid.WhyNone {
		return "a node that was found says that it does not fit"
	}
	return ""
}

// searchMethod describes how a node was found.
func (n *Node) searchMethod(f *discovery.Found) string {
	if f.Called {
		return "by a call"
	}
	return fmt.Sprintf("hops: %d, by %s", f.Hops, n.cfg.Discovery.Forward)
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
func (n *Node) dial(now grid.Time, id grid.NodeID, fx *grid.Effects) {
	n.dialAmong(now, id, maxDialled, fx)
}

// contacts is the node's connections for its worker, and for the members of registers.
type contacts struct{ n *Node }

// Connected implements [worker.Contacts].
func (c contacts) Connected(id grid.NodeID) bool { return c.n.isConnected(id) }

// Dial implements [worker.Contacts].
func (c contacts) Dial(now grid.Time, id grid.NodeID, fx *grid.Effects) { c.n.dial(now, id, fx) }

// Reach implements [replication.Contacts].
func (c contacts) Reach(now grid.Time, job grid.JobID, id grid.NodeID, fx *grid.Effects) bool {
	n := c.n
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
func (n *Node) dialAmong(now grid.Time, id grid.NodeID, most int, fx *grid.Effects) bool {
	at := slices.IndexFunc(n.dialled, func(d dialled) bool { return d.node == id })
	switch {
	case at < 0 && len(n.dialled) >= most:
		return false
	case at < 0:
		at, n.dialled = len(n.dialled), append(n.dialled, dialled{node: id, asked: -1})
	}
	d := &n.dialled[at]
	if d.until = now.Add(keepDialled); d.asked != now {
		d.asked = now
		fx.Links = append(fx.Links, grid.Link{Peer: id, Keep: true})
	}
	return true
}

// dropDialled releases connections that no task has needed for keepDialled, except those to overlay neighbours.
func (n *Node) dropDialled(now grid.Time, fx *grid.Effects) {
	n.dialled = slices.DeleteFunc(n.dialled, func(d dialled) bool {
		if d.until > now {
			return false
		}
		if g := n.gossip.Peer(d.node); g == nil || !g.Neighbour {
			fx.Links = append(fx.Links, grid.Link{Peer: d.node})
		}
		return true
	})
}
