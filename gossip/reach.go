package gossip

import (
	"math"
	"time"

	"skep/grid"
)

// maxDistance bounds a plausible round trip.
const maxDistance = 10 * time.Second

// universal forwards everything: a flood, in which every node forwards each ad once.
func universal(*Gossip, grid.Time, *Peer) float64 { return 1 }

// neighbourhood forwards ads of nodes nearer than a fixed distance, in hops or in round-trip time [5]:
//
//	P = 1 if hops < r, or if distance < d; else 0
//
// so that nodes up to r hops away learn of the origin. The default of r is Near.
func neighbourhood(_ *product, param string) (rule, error) {
	d, isTime, err := span(param)
	if isTime {
		return func(g *Gossip, _ grid.Time, p *Peer) float64 { return within(g.distance(p) < d) }, err
	}
	r, err := hops(param, 0)
	return func(g *Gossip, _ grid.Time, p *Peer) float64 {
		if r == 0 {
			return within(int(p.Hops) < g.cfg.Near)
		}
		return within(int(p.Hops) < r)
	}, err
}

func within(ok bool) float64 {
	if ok {
		return 1
	}
	return 0
}

// probabilistic forwards ads of far nodes less often [2], [3]:
//
//	P = max(PMin, P0 · Decay^hops)        hops that the ad has travelled, 1 at the origin's neighbours
//	P = max(PMin, min(1, (d0/distance)^Beta))    with a time d0 as parameter
func probabilistic(_ *product, param string) (rule, error) {
	d0, isTime, err := span(param)
	if isTime {
		return func(g *Gossip, _ grid.Time, p *Peer) float64 {
			d := g.distance(p)
			if d <= d0 {
				return 1
			}
			return max(g.cfg.PMin, math.Pow(float64(d0)/float64(d), g.cfg.Beta))
		}, err
	}
	factor := defaultDecay
	if param != "" {
		factor, err = fraction(param)
	}
	return func(g *Gossip, _ grid.Time, p *Peer) float64 {
		return max(g.cfg.PMin, g.cfg.P0*math.Pow(factor, float64(p.Hops)))
	}, err
}

// distance returns the round trip to a node: measured, or by coordinates, or the hops of its ad times the mean round
// trip to a neighbour.
func (g *Gossip) distance(p *Peer) time.Duration {
	if p.RTT > 0 {
		return p.RTT
	}
	if d := g.coord.Distance(&p.Ad.Coord); d > 0 {
		return grid.Seconds(d)
	}
	sum, n := time.Duration(0), 0
	for _, q := range g.links {
		if q.Up && q.RTT > 0 {
			sum += q.RTT
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return sum / time.Duration(n) * time.Duration(p.Hops)
}
