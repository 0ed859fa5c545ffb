package gossip

import (
	"math"
	"math/bits"

	"skep/grid"
)

// cost returns how little a node is worth keeping: far, old, unable, draining. Halves of a capacity count little, so
// that exaggerating gains little.
func (g *Gossip) cost(now grid.Time, p *Peer) int32 {
	c := price(p.Hops, p.worth)
	if age := now.Sub(p.Heard); age >= g.cfg.Refresh { // mostly it is younger, and the division is the slowest part
		c += 16 * int32(min(age/g.cfg.Refresh, 8))
	}
	if p.RTT > 0 {
		c -= 16
	}
	return c
}

// price is the cost of a node whose ad has just come, with nothing else known.
func price(hops uint8, worth int8) int32 { return 16*min(int32(hops), 16) - int32(worth) }

// ages returns when the cost of a node last heard then rises next, if nothing else comes of it.
func (g *Gossip) ages(now, heard grid.Time) grid.Time {
	age := now.Sub(heard)
	if age < g.cfg.Refresh {
		return heard.Add(g.cfg.Refresh)
	}
	return now.Add(g.cfg.Refresh - age%g.cfg.Refresh)
}

// worth returns the part of the cost that depends on the ad alone, in the node's favour.
func worth(ad *grid.Ad) int8 {
	c := 4 * min(bits.Len64(uint64(float64(ad.Capacity.CPU)*ad.Speed/1000)), 8)
	if ad.Capacity.CPU == 0 {
		c -= 64
	}
	if ad.Draining || ad.Full || ad.Away {
		c -= 32
	}
	return int8(c)
}

// yields reports whether p is evictable: connected nodes, neighbours and those kept at random are not.
func (p *Peer) yields() bool { return !p.Up && !p.Neighbour && !p.lucky }

// worst returns the evictable peer of highest cost, a random one of several, and records that cost and until when no
// other can exceed it; nil if there is none.
func (g *Gossip) worst(now grid.Time) *Peer {
	var worst *Peer
	ties := 0
	g.most, g.mostTill = math.MinInt32, grid.Never
	for _, p := range g.peers {
		if !p.yields() {
			continue
		}
		g.mostTill = min(g.mostTill, g.ages(now, p.Heard))
		if c := g.cost(now, p); c > g.most {
			worst, g.most, ties = p, c, 1
		} else if c == g.most {
			if ties++; g.rand.IntN(ties) == 0 {
				worst = p
			}
		}
	}
	return worst
}
