package gossip

import (
	"math"
	"time"

	"skep/grid"
)

// maxDistance bounds a round trip that is believed: more is a fault, not a distance.
const maxDistance = 10 * time.Second

// universal hands everything on: a flood, in which every node hands on each ad once.
func universal(*Gossip, grid.Time, *Peer) float64 { return 1 }

// neighbourhood hands on what is nearer than a fixed distance, in links or in round-trip time [5]:
//
//	P = 1 if hops < r, or if distance < d; else 0
//
// so that nodes up to r links away learn of the origin. Without a parameter r is Near.
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

// probabilistic hands on what comes from far less often [2], [3]:
//
//	P = max(PMin, P0 · Decay^hops)        hops = links the ad has come, 1 at the origin's neighbours
//	P = max(PMin, min(1, (d0/distance)^Beta))    with a time d0 for parameter
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
	factor := 0.0
	if param != "" {
		factor, err = fraction(param)
	}
	return func(g *Gossip, _ grid.Time, p *Peer) float64 {
		decay := factor
		if decay == 0 {
			decay = g.cfg.Decay
		}
		return max(g.cfg.PMin, g.cfg.P0*math.Pow(decay, float64(p.Hops)))
	}, err
}

// distance is the round trip to a node: measured, or by coordinates, or as many links as its ad came times the
// mean round trip to a neighbour.
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
