package gossip

import (
	"time"

	"skep/grid"
)

// graves is how many nodes that left are remembered, so that old ads do not bring them back.
const graves = 32

// tomb is a node that left: its last ad, and the neighbours that it is still to be sent to.
type tomb struct {
	ad        *grid.Ad
	hops      uint8
	due       uint64
	at        grid.Time
	connected bool // and its connection has not ended since
	rtt       time.Duration
}

// Hear handles a digest from a peer. news is called for each ad that was newer than the known one, after the view was
// changed; for a farewell just before the node is removed. news must not call methods that change g, and may be nil.
//
// The driver checks ads (see grid.Ad.Check) once for each: one ad comes from many neighbours.
func (g *Gossip) Hear(now grid.Time, from grid.NodeID, digest []grid.AdEntry, fx *grid.Effects, news func(*Peer)) {
	src := g.Peer(from)
	if src == nil || !src.Up {
		src = g.resurrect(now, from, digest, fx) // else a late message of a closed connection
	}
	if len(digest) > grid.MaxAds {
		g.stats.Dropped.Excess += uint64(len(digest) - grid.MaxAds)
		digest = digest[:grid.MaxAds]
	}
	before := len(g.peers)
	for i := range digest {
		g.stats.Heard++
		g.hear(now, from, src, &digest[i], fx, news)
		if src != nil && !src.Up {
			src = nil // that was its farewell
		}
	}
	if src != nil {
		src.link.talked = now
		switch isNone := declines(digest, src); {
		case isNone && src.Neighbour:
			g.declined(now, src, digest, len(g.peers) > before, fx)
		case isNone:
			g.bridge(now, src, len(g.peers) > before, fx)
		case !src.Neighbour:
			g.stranger(now, src, fx)
		}
	}
	if g.dirty && len(g.links) < g.cfg.Neighbours {
		g.fill(now, fx)
	}
	g.flush(now, fx)
}

// hear handles one ad.
func (g *Gossip) hear(now grid.Time, from grid.NodeID, src *Peer, e *grid.AdEntry, fx *grid.Effects, news func(*Peer)) {
	ad := e.Ad
	if ad == nil || ad.Node.IsZero() {
		g.stats.Dropped.Bad++
		return
	}
	if ad.Node == g.self {
		g.own(ad)
		return
	}
	// Hops are not signed: only from the origin itself is an ad one hop old.
	hops := uint8(1)
	if from != ad.Node {
		hops = min(max(e.Hops, 1), grid.MaxHops-1) + 1
	}
	p := g.Peer(ad.Node)
	if p != nil && p.Ad != nil && !p.Ad.Seq.Less(ad.Seq) {
		g.repeated(src, p, ad, hops)
		return
	}
	if g.departed(ad) {
		g.stats.Dropped.Gone++
		return
	}
	if ad.Leaving {
		g.farewell(now, src, p, ad, hops, fx, news)
		return
	}
	if p == nil {
		if p = g.admit(now, src, ad, hops); p == nil {
			return
		}
		g.seek.met = now
	}
	g.stats.News++
	g.tell(now, p, ad, hops)
	g.feed(p, src)
	if hops == 1 {
		g.place(p, p.RTT)
	}
	g.pass(now, src, p)
	if news != nil {
		news(p)
	}
}

// repeated handles an ad that is not newer than the known one.
func (g *Gossip) repeated(src, p *Peer, ad *grid.Ad, hops uint8) {
	g.stats.Repeated++
	switch {
	case ad.Seq == p.Ad.Seq:
		p.Hops = min(p.Hops, hops)
		if src != nil {
			p.due &^= src.link.bit() // it has it
			g.prune(p, src.link.bit(), hops)
		}
	case src == p:
		// Its origin has lost its boot count: send it what is known, so that its next sequence is above.
		p.due |= src.link.bit() & g.up
		g.some |= src.link.bit() & g.up
	case src != nil:
		g.graft(p, src.link.bit())
	}
}

// pass asks the rule whether news is forwarded, and makes it due for all connected neighbours but the one that brought
// it and the one it is about.
func (g *Gossip) pass(now grid.Time, src, p *Peer) {
	if src != nil {
		p.due &^= src.link.bit()
	}
	to := g.others(src, p)
	chance := g.rule.chance(g, now, p)
	if chance > 0 && g.introduces(p) {
		chance = 1
	}
	if chance <= 0 || chance < 1 && g.rand.Float64() >= chance {
		g.stats.Suppressed++
		return
	}
	g.stats.Forwarded++
	if g.rule.adapt != nil && !g.introduces(p) {
		to &^= g.rule.adapt.served[p.slot]
	}
	p.due |= to
	if g.urgent(now, p) {
		g.some |= to
		p.sent = p.Ad
	} // else it is a heartbeat that is sent with the next digest, and was not sent before
	p.sentAt = now
}

// introduces reports whether this node forwards the ad of p with certainty if the rule gives it any chance: it is the
// first one heard here, or p is a neighbour and it is the first one of a run of p, or has new addresses. With the
// rule's chance alone some nodes would not hear of a newcomer before one of its next refreshes. The first ad of a node
// farther away counts only while the view has room: in a grid that is larger than the view, every node is heard of for
// the first time again and again. A departure from [2], [3].
func (g *Gossip) introduces(p *Peer) bool {
	if p.sent == nil {
		return p.Hops == 1 || g.hasRoom()
	}
	return p.Hops == 1 && (p.sent.Seq.Boot != p.Ad.Seq.Boot || !same(p.sent.Addrs, p.Ad.Addrs))
}

// others returns the connected neighbours except two, either of which may be nil.
func (g *Gossip) others(a, b *Peer) uint64 {
	to := g.up
	if a != nil {
		to &^= a.link.bit()
	}
	if b != nil && b.link != nil {
		to &^= b.link.bit()
	}
	return to
}

// farewell handles the last ad of a node. It is forwarded whatever the rule, but only where the node was known: a
// later copy finds it unknown and stops.
func (g *Gossip) farewell(now grid.Time, src, p *Peer, ad *grid.Ad, hops uint8, fx *grid.Effects, news func(*Peer)) {
	if p == nil {
		g.stats.Dropped.Gone++
		return
	}
	g.stats.News++
	g.stats.Forwarded++
	t := tomb{ad: ad, hops: hops, due: g.others(src, p), at: now, connected: p.Up, rtt: p.RTT}
	g.some |= t.due
	if len(g.gone) < graves {
		g.gone = append(g.gone, t)
	} else {
		g.gone[g.grave] = t
		g.grave = (g.grave + 1) % graves
	}
	g.tell(now, p, ad, hops)
	if news != nil {
		news(p)
	}
	wasNeighbour := p.Neighbour
	if wasNeighbour {
		g.unlink(now, p, fx)
	}
	p.Up = false
	g.forget(p)
	if wasNeighbour {
		g.fill(now, fx)
	}
}

// resurrect makes a node known again that left, and starts again before its connection was seen to end: the driver does
// not say once more that it is connected. Such a node is told of others as after a new connection, so once in MinGap.
// It returns that node; nil = it is none.
func (g *Gossip) resurrect(now grid.Time, from grid.NodeID, digest []grid.AdEntry, fx *grid.Effects) *Peer {
	for i := range g.gone {
		t := &g.gone[i]
		if t.ad.Node != from || !t.connected || age(now, t.at) < g.cfg.MinGap {
			continue
		}
		for k := range digest {
			if ad := digest[k].Ad; ad != nil && ad.Node == from && t.ad.Seq.Less(ad.Seq) && !ad.Leaving {
				t.connected = false
				g.Up(now, from, t.rtt, fx)
				return g.Peer(from)
			}
		}
	}
	return nil
}

// severed notes that the connection of a node that left has ended.
func (g *Gossip) severed(id grid.NodeID) {
	for i := range g.gone {
		if t := &g.gone[i]; t.ad.Node == id {
			t.connected = false
		}
	}
}

// departed reports whether an ad is not newer than its node's farewell.
func (g *Gossip) departed(ad *grid.Ad) bool {
	for i := range g.gone {
		if t := &g.gone[i]; t.ad.Node == ad.Node && !t.ad.Seq.Less(ad.Seq) {
			return true
		}
	}
	return false
}
