package gossip

import (
	"math/bits"

	"skep/grid"
)

// take gives a new peer a slot, release takes it back.
func (a *adapt) take(p *Peer) {
	if a == nil {
		return
	}
	p.source = noSource
	switch {
	case len(a.spare) > 0:
		p.slot = a.spare[len(a.spare)-1]
		a.spare = a.spare[:len(a.spare)-1]
		a.served[p.slot] = 0
	default: // a view holds no more than there are slots
		p.slot = uint16(len(a.served))
		a.served = append(a.served, 0)
	}
}

func (a *adapt) release(p *Peer) {
	if a != nil {
		a.spare = append(a.spare, p.slot)
	}
}

// No link that news of an origin comes over: nobody has brought any, or the one that did is gone.
const (
	noSource = 255 - iota
	orphan
)

// feed notes over which link news of an origin has come.
func (g *Gossip) feed(p, src *Peer) {
	if g.rule.adapt == nil {
		return
	}
	p.source = noSource
	if src != nil && src.link.place != noPlace {
		p.source = src.link.place
	}
}

// prune notes that a neighbour has sent what this node knows already: it hears of p from others, and is sent the
// same once, not for its own sake, and so learns this of this node. A neighbour that has lost its source says so
// by the largest number of hops, and is not pruned but grafted.
func (g *Gossip) prune(p *Peer, bit uint64, hops uint8) {
	a := g.rule.adapt
	switch {
	case a == nil:
	case hops == grid.MaxHops:
		a.served[p.slot] &^= bit
	case a.served[p.slot]&bit != bit:
		a.served[p.slot] |= bit
		p.due |= bit & g.up
	}
}

// graft takes a link back over which somebody has shown that he knows less.
func (g *Gossip) graft(p *Peer, bit uint64) {
	if a := g.rule.adapt; a != nil {
		a.served[p.slot] &^= bit
		p.due |= bit & g.up
		g.some |= bit & g.up
	}
}

// sever forgets a link. Who came over it has lost his way here, and the other neighbours are shown him so that they
// open theirs.
func (g *Gossip) sever(bit uint64) {
	a := g.rule.adapt
	if a == nil {
		return
	}
	for _, p := range g.peers {
		a.served[p.slot] &^= bit
		if p.source == uint8(bits.TrailingZeros64(bit)) {
			g.call(p)
		}
	}
}

// call shows p to the other neighbours as one who has lost his way here.
func (g *Gossip) call(p *Peer) {
	p.source = orphan
	to := g.others(nil, p)
	g.rule.adapt.served[p.slot] &^= to
	p.due |= to
	g.some |= to
}

// ask calls for those who were not heard of for so long that they would be forgotten at the next refresh.
func (g *Gossip) ask(now grid.Time) {
	if g.rule.adapt == nil {
		return
	}
	for _, p := range g.peers {
		if p.Ad != nil && p.source != orphan && age(now, p.Heard) >= g.cfg.Expire-g.cfg.Refresh {
			g.call(p)
		}
	}
}

// way is the hops that a digest tells of p.
func (p *Peer) way() uint8 {
	if p.source == orphan {
		return grid.MaxHops
	}
	return p.Hops
}
