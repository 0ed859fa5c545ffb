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

// No source link: no news of the origin has come, or its link is gone.
const (
	noSource = 255 - iota
	orphan
)

// feed records the link that news of an origin came over.
func (g *Gossip) feed(p, src *Peer) {
	if g.rule.adapt == nil {
		return
	}
	p.source = noSource
	if src != nil && src.link.place != noPlace {
		p.source = src.link.place
	}
}

// prune handles a neighbour's copy of what this node knows already: the neighbour gets news of p from others. It is
// sent the same once, and so learns this of this node. A neighbour that has lost its source signals that by the
// largest number of hops, and is not pruned but grafted.
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

// graft restores a link to a neighbour that has shown that it knows less.
func (g *Gossip) graft(p *Peer, bit uint64) {
	if a := g.rule.adapt; a != nil {
		a.served[p.slot] &^= bit
		p.due |= bit & g.up
		g.some |= bit & g.up
	}
}

// sever removes a link. For origins whose source it was, the other neighbours are sent their ads so that they restore
// their links.
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

// call sends p to the other neighbours as one whose source is lost.
func (g *Gossip) call(p *Peer) {
	p.source = orphan
	to := g.others(nil, p)
	g.rule.adapt.served[p.slot] &^= to
	p.due |= to
	g.some |= to
}

// ask calls for nodes that would be removed at the next refresh for lack of ads.
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

// way returns the hops that a digest states for p.
func (p *Peer) way() uint8 {
	if p.source == orphan {
		return grid.MaxHops
	}
	return p.Hops
}
