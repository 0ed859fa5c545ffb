package gossip

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"skep/grid"
)

// silence is how many Refreshes a neighbour may be silent before it is replaced: it does not count this node as its
// neighbour, or is of no use. A stranger that goes on sending is answered after MinGap, then after delays that double
// up to answers Refreshes: a newcomer hears soon of others, a node with other neighbours turns to them, and one without
// still hears before everything expires.
const (
	silence = 3
	answers = 4
)

// Neighbours returns the connected neighbours, ordered by identity; read only, until the next call that changes.
func (g *Gossip) Neighbours() []grid.NodeID {
	if g.stale { // few callers, mostly of few nodes
		g.stale, g.near = false, g.near[:0]
		for i, p := range g.links {
			if g.up&g.bits[i] != 0 {
				g.near = append(g.near, p.Node())
			}
		}
	}
	return g.near
}

// Up handles a new connection; rtt 0 = not measured. The first connected nodes become neighbours. Each gets the own ad
// and near ads.
func (g *Gossip) Up(now grid.Time, peer grid.NodeID, rtt time.Duration, fx *grid.Effects) {
	if peer == g.self || peer.IsZero() {
		return
	}
	p := g.Peer(peer)
	if p == nil {
		p = g.meet(now, peer)
		g.seek.met = now
	}
	p.measure(rtt)
	if p.Up {
		return
	}
	p.Up = true
	g.dirty = true
	l := p.linked()
	l.shed, l.owes, l.answers, l.twice = false, 0, 0, false
	if p.Neighbour {
		g.connect(now, p)
		l.since = now
	} else if bits.OnesCount64(g.up) < g.cfg.Neighbours && g.room() {
		g.join(now, p, fx)
	}
	g.exchange(now, p, fx)
	g.seekNeighbours(now)
	if !p.Neighbour {
		g.seek.again = min(g.seek.again, now.Add(secondExchange*g.cfg.MinGap))
	}
	g.flush(now, fx)
}

// Down handles the end of a peer's last connection. A neighbour is replaced at once if there is a candidate; otherwise
// its place is kept.
func (g *Gossip) Down(now grid.Time, peer grid.NodeID, fx *grid.Effects) {
	g.severed(peer)
	p := g.Peer(peer)
	if p == nil || !p.Up {
		return
	}
	p.Up = false
	g.dirty, g.mostTill = true, never
	p.link.since, p.link.shed = now, false
	if !p.Neighbour {
		if p.Ad == nil {
			g.forget(p)
		}
		return
	}
	g.disconnect(p)
	if len(g.links) > g.cfg.Neighbours {
		g.drop(now, p, fx)
	} else if c := g.pick(now, known); c != nil {
		g.swap(now, p, c, fx)
	}
	g.seekNeighbours(now)
	g.flush(now, fx)
}

// stranger handles a digest from a connected peer that is not a neighbour. The first one is part of a new connection.
// A peer that sends more counts this node as its neighbour: the relation is made mutual while there is room, or news
// would flow one way [4]. Beyond that it is answered rarely, and only every second digest, so that two strangers'
// answers to each other die out.
func (g *Gossip) stranger(now grid.Time, p *Peer, fx *grid.Effects) {
	l := p.link
	if l.owes < 255 {
		l.owes++
	}
	if l.owes < 2 {
		return
	}
	if !l.shed && g.room() {
		g.take(now, p, fx)
	} else if age(now, l.told) >= min(g.cfg.MinGap<<min(l.answers, 32), answers*g.cfg.Refresh) {
		l.owes, l.answers = 0, min(l.answers+1, 32)
		g.exchangeAs(now, p, unlinked, fx)
	}
}

// look reviews the neighbours: unreachable or silent ones are replaced, surplus ones are dropped, one at a time, and
// if the known nodes have changed, one place is given to a nearer or a random one.
func (g *Gossip) look(now grid.Time, fx *grid.Effects) {
	g.lookAt = now
	for i := 0; i < len(g.links); i++ {
		p := g.links[i]
		dead := !p.Up && age(now, p.link.since) >= g.cfg.Look
		mute := p.Up && age(now, max(p.link.since, p.link.talked)) >= silence*g.cfg.Refresh
		if !dead && !mute {
			continue
		}
		if dead && age(now, max(p.Fresh(), p.link.talked)) >= g.cfg.Forget && age(now, p.link.since) >= g.cfg.Forget {
			g.drop(now, p, fx)
			i--
		} else if c := g.pick(now, known); c != nil {
			g.dismiss(now, p, fx)
			g.swap(now, p, c, fx)
			i = -1 // the new one is neither: the loop ends
		}
	}
	k := g.cfg.Neighbours
	if len(g.links) > k+k/4 {
		if p := g.oldest(now); p != nil {
			g.dismiss(now, p, fx)
			g.drop(now, p, fx)
		}
	} else if g.dirty && len(g.links) >= k {
		g.rotate(now, fx)
	}
	g.dirty = false
	g.fill(now, fx)
}

// rotate gives the place of the oldest neighbour of the far half to a connected stranger that is clearly nearer than
// the near half, or else to a random node. The near half are the neighbours with the lowest round-trip times now, so a
// random one stays if it proves near.
func (g *Gossip) rotate(now grid.Time, fx *grid.Effects) {
	p := g.oldest(now)
	if p == nil {
		return
	}
	var a [64]*Peer
	bound := g.byRTT(&a)[max(g.cfg.Neighbours/2, 1)-1].RTT
	var c *Peer
	n := 0
	for _, q := range g.peers {
		if !g.eligible(now, q) || q.Up && q.link.shed {
			continue
		}
		if q.Up && q.RTT > 0 && q.RTT < bound-bound/5 {
			c = q
			break
		}
		if n++; g.rand.IntN(n) == 0 {
			c = q
		}
	}
	if c != nil {
		g.dismiss(now, p, fx)
		g.swap(now, p, c, fx)
	}
}

// byRTT returns the neighbours by round-trip time; those not connected or not measured are last.
func (g *Gossip) byRTT(a *[64]*Peer) []*Peer {
	key := func(p *Peer) time.Duration {
		if !p.Up || p.RTT == 0 {
			return 1<<63 - 1
		}
		return p.RTT
	}
	s := append(a[:0], g.links...)
	slices.SortStableFunc(s, func(p, q *Peer) int { return cmp.Compare(key(p), key(q)) })
	return s
}

// oldest returns the neighbour beyond the near half that has been one for longest, and for at least Look; an
// unconnected one first; nil if there is none.
func (g *Gossip) oldest(now grid.Time) *Peer {
	var a [64]*Peer
	var c *Peer
	s := g.byRTT(&a)
	for _, p := range s[min(g.cfg.Neighbours/2, len(s)):] {
		if age(now, p.link.since) < g.cfg.Look {
			continue
		}
		if c == nil || c.Up && !p.Up || c.Up == p.Up && p.link.since < c.link.since {
			c = p
		}
	}
	return c
}
