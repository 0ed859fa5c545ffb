package gossip

import (
	"math"
	"math/bits"

	"skep/grid"
)

// cost says how little a node is worth keeping: far, old, unable, draining. Halves of a capacity count
// little, so that nobody gains much by boasting.
func (g *Gossip) cost(now grid.Time, p *Peer) int32 {
	c := price(p.Hops, p.worth)
	if age := now.Sub(p.Heard); age >= g.cfg.Refresh { // mostly it is younger, and a division the longest part of this
		c += 16 * int32(min(age/g.cfg.Refresh, 8))
	}
	if p.RTT > 0 {
		c -= 16
	}
	return c
}

// price is the cost of a node of which an ad has just come, and nothing else is known.
func price(hops uint8, worth int8) int32 { return 16*min(int32(hops), 16) - int32(worth) }

// ages is when the cost of a node heard of then rises next, if nothing else comes of it.
func (g *Gossip) ages(now, heard grid.Time) grid.Time {
	age := now.Sub(heard)
	if age < g.cfg.Refresh {
		return heard.Add(g.cfg.Refresh)
	}
	return now.Add(g.cfg.Refresh - age%g.cfg.Refresh)
}

// worth is the part of the cost that the ad alone decides, and speaks for the node.
func worth(ad *grid.Ad) int8 {
	c := 4 * min(bits.Len64(uint64(float64(ad.Capacity.CPU)*ad.Speed/1000)), 8)
	if ad.Capacity.CPU == 0 {
		c -= 64
	}
	if ad.Draining || ad.Full {
		c -= 32
	}
	return int8(c)
}

// yields reports whether p may give way to an ad: connected nodes, neighbours and those kept by chance never do.
func (p *Peer) yields() bool { return !p.Up && !p.Neighbour && !p.lucky }

// worst returns who costs most of those that may give way, one at random of those that cost the same, and notes that cost and until when
// no other can be above it; nil if nobody may.
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
