package gossip

import (
	"math/bits"
	"slices"

	"skep/grid"
)

// fill adds neighbours while there are too few and candidates.
func (g *Gossip) fill(now grid.Time, fx *grid.Effects) {
	for len(g.links) < g.cfg.Neighbours {
		c := g.pick(now, letGo)
		if c == nil {
			return
		}
		g.take(now, c, fx)
	}
}

// eligible reports whether a node could become a neighbour.
func (g *Gossip) eligible(now grid.Time, p *Peer) bool {
	if p.Neighbour {
		return false
	}
	return p.Up || p.Ad != nil && (p.link == nil || age(now, p.link.since) >= g.cfg.Look)
}

// Ranks of candidates for neighbours.
const (
	letGo   = iota // connected, but was let go
	known          // must be dialled
	present        // connected
)

// pick returns a candidate of the highest rank, at least the given one: of the connected ones the nearest if a near
// one is due, else any; nil if there is none.
func (g *Gossip) pick(now grid.Time, least int) *Peer {
	near := len(g.links)%2 == 0
	var c *Peer
	best, n := least, 0
	for _, p := range g.peers {
		if !g.eligible(now, p) {
			continue
		}
		rank := present
		if !p.Up {
			rank = known
		} else if p.link.shed {
			rank = letGo
		}
		switch {
		case rank < best:
		case c == nil || rank > best:
			c, best, n = p, rank, 1
		case near && rank == present:
			if p.RTT > 0 && (c.RTT == 0 || p.RTT < c.RTT) {
				c = p
			}
		default:
			if n++; g.rand.IntN(n) == 0 {
				c = p
			}
		}
	}
	return c
}

// room reports whether one more neighbour may be accepted.
func (g *Gossip) room() bool { return len(g.links) < 2*g.cfg.Neighbours }

// swap replaces the neighbour p by c.
func (g *Gossip) swap(now grid.Time, p, c *Peer, fx *grid.Effects) {
	g.stats.Replaced++
	g.drop(now, p, fx)
	g.take(now, c, fx)
}

// take makes a node a neighbour and starts an exchange with it if it is connected and had none recently.
func (g *Gossip) take(now grid.Time, p *Peer, fx *grid.Effects) {
	g.join(now, p, fx)
	if p.Up && age(now, p.link.told) >= g.cfg.Refresh {
		g.exchange(now, p, fx)
	}
}

// drop ends a neighbourhood, and removes a node that has no other role.
func (g *Gossip) drop(now grid.Time, p *Peer, fx *grid.Effects) {
	g.unlink(now, p, fx)
	if !p.Up && (p.Ad == nil || age(now, p.Heard) >= g.cfg.Expire) {
		g.forget(p)
	}
}

// join makes a node a neighbour.
func (g *Gossip) join(now grid.Time, p *Peer, fx *grid.Effects) {
	l := p.linked()
	l.place = uint8(bits.TrailingZeros64(^g.used))
	l.since, l.shed = now, false
	g.used |= l.bit()
	p.Neighbour = true
	i, _ := slices.BinarySearchFunc(g.links, p.Node(), func(q *Peer, id grid.NodeID) int { return q.node().Compare(id) })
	g.links = slices.Insert(grid.Room(g.links, minGrowth), i, p)
	g.bits = slices.Insert(grid.Room(g.bits, minGrowth), i, l.bit())
	fx.Links = append(fx.Links, grid.Link{Peer: p.Node(), Keep: true})
	if p.Up {
		g.connect(now, p)
	}
}

// unlink is the reverse of join.
func (g *Gossip) unlink(now grid.Time, p *Peer, fx *grid.Effects) {
	g.disconnect(p)
	bit := p.link.bit()
	g.used &^= bit
	g.bits = slices.DeleteFunc(g.bits, func(b uint64) bool { return b == bit })
	p.link.place, p.link.since, p.link.owes = noPlace, now, 0
	p.Neighbour = false
	g.links = slices.DeleteFunc(g.links, func(q *Peer) bool { return q == p })
	fx.Links = append(fx.Links, grid.Link{Peer: p.Node()})
	g.dirty, g.mostTill = true, never
}

// connect adds a neighbour to those that get news, with the own ad due and what both should know.
func (g *Gossip) connect(now grid.Time, p *Peer) {
	bit := p.link.bit()
	g.up |= bit
	g.due |= bit
	g.some |= bit
	g.waits &^= bit
	g.stale = true
	g.share(now, p)
}

// disconnect removes it, and everything due for it.
func (g *Gossip) disconnect(p *Peer) {
	bit := p.link.bit()
	g.up &^= bit
	g.due &^= bit
	g.some &^= bit
	g.waits &^= bit
	for _, q := range g.peers {
		q.due &^= bit
	}
	for i := range g.gone {
		g.gone[i].due &^= bit
	}
	g.stale = true
	g.sever(bit)
}
