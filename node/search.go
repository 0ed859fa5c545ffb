package node

import (
	"slices"

	"skep/discovery"
	"skep/grid"
)

// found goes on after a search: the node that was found is dialled, or nobody can run the task.
func (n *Node) found(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	var f discovery.Found
	var ok bool
	if m.Kind == grid.KindHit {
		if len(m.Digest) == 0 || m.Digest[0].Ad == nil {
			n.stats.Stale++
			return
		}
		n.gossip.Hear(now, from, m.Digest[:1], fx, n.news(now, fx))
		f, ok = n.discovery.Hit(now, m)
	} else {
		f, ok = n.discovery.Miss(now, &m.Find, n.gossip.Neighbours(), fx)
	}
	if ok {
		n.searched(now, f, fx)
	}
}

func (n *Node) searchWake(now grid.Time, t grid.Timer, fx *grid.Effects) {
	if f, ok := n.discovery.Wake(now, t, n.gossip.Neighbours(), n.local, fx); ok {
		n.searched(now, f, fx)
	}
}

// searched lets the tasks that waited for a search go on.
func (n *Node) searched(now grid.Time, f discovery.Found, fx *grid.Effects) {
	if f.Ad != nil {
		fx.Links = append(fx.Links, grid.Link{Peer: f.Ad.Node, Keep: true})
	}
	for _, l := range slices.Clone(n.waiting) {
		if l.search != f.ID || l.phase != waits {
			continue
		}
		l.search = 0
		if f.Ad == nil || l.never(f.Ad.Node) { // searching again would find it again
			l.job.nobody = now.Add(nobodyFor)
		}
		n.unwait(l)
	}
}
