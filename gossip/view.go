package gossip

import (
	"encoding/binary"
	"slices"
	"time"

	"skep/grid"
)

// luckyShare is the part of the view that is kept at random: otherwise a node would know its part of the grid only,
// and neighbours chosen at random would not be random.
const luckyShare = 8

// minGrowth is the least number of elements by which lists of peers grow.
const minGrowth = 8

// find returns the index of a node in the view, or where it would be inserted.
func (g *Gossip) find(id grid.NodeID) (int, bool) {
	k := head(id)
	lo, hi := 0, len(g.keys)
	for lo < hi {
		if mid := (lo + hi) / 2; g.keys[mid] < k {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	for ; lo < len(g.keys) && g.keys[lo] == k; lo++ {
		if c := g.peers[lo].node().Compare(id); c >= 0 {
			return lo, c == 0
		}
	}
	return lo, false
}

// head is the first bytes of an identity, in its order.
func head(id grid.NodeID) uint64 { return binary.BigEndian.Uint64(id[:]) }

// Peer returns the view entry of a node; nil if it is not known.
func (g *Gossip) Peer(id grid.NodeID) *Peer {
	if i, ok := g.find(id); ok {
		return g.peers[i]
	}
	return nil
}

// Peers returns the view, sorted by identity; read only, until the next call that changes.
func (g *Gossip) Peers() []*Peer { return g.peers }

// Heads returns the first bytes of their identities, in the same order; read only likewise.
func (g *Gossip) Heads() []uint64 { return g.keys }

// tell sets a newer ad of p, received now.
func (g *Gossip) tell(now grid.Time, p *Peer, ad *grid.Ad, hops uint8) {
	p.Ad, p.Hops, p.Heard, p.worth = ad, hops, now, worth(ad)
	if p.link != nil {
		p.link.node = nil
	}
	if p.yields() {
		g.most, g.mostTill = max(g.most, g.cost(now, p)), min(g.mostTill, now.Add(g.cfg.Refresh))
	}
}

// admit adds a node to the view because of its ad that travelled that many hops; nil if it may not. Connected nodes
// and neighbours are never evicted for it.
func (g *Gossip) admit(now grid.Time, src *Peer, ad *grid.Ad, hops uint8) *Peer {
	lucky := int(g.lucky) < g.cfg.View/luckyShare && g.rand.IntN(luckyShare) == 0
	if len(g.peers) < g.cfg.View {
		return g.insert(ad.Node, ad, lucky, nil)
	}
	own := price(hops, worth(ad))
	if !lucky && now < g.mostTill && own >= g.most {
		g.stats.Dropped.Full++
		return nil
	}
	worst := g.worst(now)
	if worst == nil || !lucky && own >= g.most {
		g.stats.Dropped.Full++
		return nil
	}
	if !g.quota(now, src) {
		g.stats.Dropped.Quota++
		return nil
	}
	g.stats.Evicted++
	return g.insert(ad.Node, ad, lucky, g.remove(worst))
}

// hasRoom reports whether the view has room for an eighth more: probably it holds the whole grid.
func (g *Gossip) hasRoom() bool { return len(g.peers)+g.cfg.View/8 <= g.cfg.View }

// quota bounds how much of a full view one peer can replace: an eighth of it in each Refresh.
func (g *Gossip) quota(now grid.Time, src *Peer) bool {
	if src == nil {
		return false
	}
	l := src.linked()
	if now.Sub(l.introAt) >= g.cfg.Refresh {
		l.introAt, l.intros = now, 0
	}
	l.intros = min(l.intros, 1<<16-2) + 1
	return int(l.intros) <= max(g.cfg.View/8, 1)
}

// meet adds a node to the view because it is connected. If all known nodes are connected too, it replaces the stranger
// that has been silent for longest: a new node may have no other connection, and must learn of others.
func (g *Gossip) meet(now grid.Time, id grid.NodeID) *Peer {
	if len(g.peers) < g.cfg.View {
		return g.insert(id, nil, false, nil)
	}
	worst, most := (*Peer)(nil), int32(0)
	var silent *Peer
	for _, p := range g.peers {
		switch {
		case p.Neighbour:
		case p.Up:
			if silent == nil || max(p.link.talked, p.link.told) < max(silent.link.talked, silent.link.told) {
				silent = p
			}
		default:
			if c := g.cost(now, p); worst == nil || c > most {
				worst, most = p, c
			}
		}
	}
	if worst == nil {
		worst = silent // exists: a view holds more than all neighbours
	}
	g.stats.Evicted++
	return g.insert(id, nil, false, g.remove(worst))
}

// insert adds a node to the view, with its ad if it is known, in the memory of a removed one if there is one.
func (g *Gossip) insert(id grid.NodeID, ad *grid.Ad, lucky bool, p *Peer) *Peer {
	if p == nil {
		p = g.blank()
	}
	*p = Peer{Ad: ad, Heard: never, sentAt: never, lucky: lucky}
	if ad == nil {
		own := id
		p.linked().node = &own
	}
	if lucky {
		g.lucky++
	}
	g.rule.adapt.take(p)
	i, _ := g.find(id)
	g.peers = slices.Insert(grid.Room(g.peers, minGrowth), i, p)
	g.keys = slices.Insert(grid.Room(g.keys, minGrowth), i, head(id))
	g.dirty = true
	return p
}

// remove removes a node that is no neighbour, and returns its memory.
func (g *Gossip) remove(p *Peer) *Peer {
	if p.lucky {
		g.lucky--
	}
	g.rule.adapt.release(p)
	i, _ := g.find(p.Node())
	g.peers = slices.Delete(g.peers, i, i+1)
	g.keys = slices.Delete(g.keys, i, i+1)
	g.dirty = true
	return p
}

// forget is remove without a replacement: the memory is kept for the next node.
func (g *Gossip) forget(p *Peer) {
	g.spare = append(g.spare, g.remove(p))
	*p = Peer{}
}

// sweep removes nodes without an ad for Expire, and old links.
func (g *Gossip) sweep(now grid.Time) {
	kept := g.peers[:0]
	g.keys = g.keys[:0]
	for _, p := range g.peers {
		if !p.Up && !p.Neighbour {
			if now.Sub(p.Heard) >= g.cfg.Expire {
				if p.lucky {
					g.lucky--
				}
				g.stats.Expired++
				g.rule.adapt.release(p)
				*p = Peer{}
				g.spare = append(g.spare, p)
				g.dirty = true
				continue
			}
			if p.link != nil && now.Sub(p.link.since) >= g.cfg.Look && p.link.said <= p.Heard {
				p.link = nil
			}
		}
		kept = append(kept, p)
		g.keys = append(g.keys, head(*p.node()))
	}
	clear(g.peers[len(kept):])
	g.peers = kept
}

// age returns the time since t, and the longest duration for never.
func age(now, t grid.Time) time.Duration {
	if t == never {
		return 1<<63 - 1
	}
	return now.Sub(t)
}
