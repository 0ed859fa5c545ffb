package node

import (
	"skep/discovery"
	"skep/grid"
)

// The messages of a search: discovery walks over the neighbours of gossip, and the coordinator takes what was found.

// handleSearch handles a step of a walk, or its end.
func (n *Node) handleSearch(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	var f discovery.Found
	var over bool
	switch {
	case m.Kind == grid.KindFind:
		first := len(fx.Sends)
		n.discovery.Find(now, from, &m.Find, n.gossip.Neighbours(), n.bestKnown, fx)
		for i := first; i < len(fx.Sends); i++ { // the asker's ad travels with its walk
			if s := &fx.Sends[i].Msg; s.Kind == grid.KindFind && len(m.Digest) == 1 && m.Digest[0].Ad != nil &&
				m.Digest[0].Ad.Node == m.Find.Asker {
				s.Digest = append(s.Digest, m.Digest[0])
			}
		}
	case m.Kind == grid.KindMiss:
		f, over = n.discovery.Miss(now, &m.Find, n.gossip.Neighbours(), fx)
	case len(m.Digest) == 0 || m.Digest[0].Ad == nil:
		n.stats.stale++
	default:
		n.gossip.Hear(now, from, m.Digest[:1], fx, n.adNews(now))
		f, over = n.discovery.Hit(now, from, m)
	}
	if over {
		n.coordinator.SearchDone(now, f, fx)
	}
}

// bestKnown returns this node's ad if it fits, or else, with Discovery.Ads, the ad of the known fitting node with the
// least backlog: the next step of a walk.
func (n *Node) bestKnown(needs *grid.Needs, engine string) *grid.Ad {
	if ad := n.selfIfFits(needs, engine); ad != nil || !n.tuning.Discovery.Ads {
		return ad
	}
	best := discovery.LeastBacklog{Needs: needs, Engine: engine}
	for _, g := range n.gossip.Peers() {
		best.Consider(g.Ad, g.Heard)
	}
	return best.Ad
}

// selfIfFits returns this node's ad if it meets the needs and takes new work; a search then ends here.
func (n *Node) selfIfFits(needs *grid.Needs, engine string) *grid.Ad {
	if ad := n.gossip.Ad(); discovery.Takes(needs, engine, ad) {
		return ad
	}
	return nil
}
