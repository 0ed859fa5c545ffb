package gossip

import (
	"fmt"
	"math"

	"skep/grid"
)

// distinctive spreads ads of rare nodes as far as universal does, and of common ones as far as neighbourhood [5]:
//
//	P = 1 if hops < Near + (Far − Near) · distinct; else 0
//
// distinct is the share of known nodes that do not equal or better the origin. The parameter is Far. The view is
// scanned once for each news.
func distinctive(_ *product, param string) (rule, error) {
	far, err := hops(param, 0)
	return func(g *Gossip, _ grid.Time, p *Peer) float64 {
		r, top := float64(g.cfg.Near), far
		if top == 0 {
			top = defaultFar
		}
		return within(float64(p.Hops) < r+max(float64(top)-r, 0)*(1-g.equals(p.Ad)))
	}, err
}

// equals returns the share of the known nodes, this one included, that equal or better an ad, without its own node.
func (g *Gossip) equals(ad *grid.Ad) float64 {
	n, as := 0, 0
	count := func(q *grid.Ad) {
		if q == nil || q.Node == ad.Node {
			return
		}
		n++
		if betters(q, ad) {
			as++
		}
	}
	count(g.ad)
	for _, q := range g.peers {
		count(q.Ad)
	}
	if n == 0 {
		return 0
	}
	return float64(as) / float64(n)
}

// sameSpeed is how much slower a machine may be to count as equal, as calibrations of equal machines differ.
const sameSpeed = 0.9

// betters reports whether q has everything that a has. The label hostname is no attribute.
func betters(q, a *grid.Ad) bool {
	if q.Capacity.CPU < a.Capacity.CPU || q.Capacity.Memory < a.Capacity.Memory || q.Speed < sameSpeed*a.Speed ||
		!q.Capacity.Counts.Fits(a.Capacity.Counts) {
		return false
	}
	for i := range a.Labels {
		l := &a.Labels[i]
		if v, ok := q.Label(l.Key); l.Key != "hostname" && (!ok || v != l.Value) {
			return false
		}
	}
	for _, e := range a.Engines {
		has := false
		for _, f := range q.Engines {
			has = has || e == f
		}
		if !has {
			return false
		}
	}
	return true
}

// A resource is scarce if at most scarce of the known nodes equal or better it, plentiful from the second share on.
const (
	scarce    = 0.05
	plentiful = 0.5
)

// vicinity is the number of hops within which loads are compared.
const vicinity = 2

// prioritised hands on by the nature of the resource [2], [3]: scarce ones and those with little load travel
// farther, to attract work.
//
//	class:     P = WeightScarce, WeightNormal or WeightPlentiful
//	load:      P = 1 + GainLoad·(mean load within 2 hops − load), held between PMin and 1
//	           without a parameter: the two multiplied, then held between PMin and 1
//	potential: P = 1 if capacity·exp(−distance/Reach) ≥ Potential · mean capacity of those known as near; else 0
//
// The last is the grid potential of [5], whose formula was not to be had: this one is ours.
func prioritised(_ *product, param string) (rule, error) {
	switch param {
	case "":
		return func(g *Gossip, _ grid.Time, p *Peer) float64 { return g.clamp(g.weight(p.Ad) * g.idleness(p.Ad)) }, nil
	case "class":
		return func(g *Gossip, _ grid.Time, p *Peer) float64 { return g.weight(p.Ad) }, nil
	case "load":
		return func(g *Gossip, _ grid.Time, p *Peer) float64 { return g.clamp(g.idleness(p.Ad)) }, nil
	case "potential":
		return (*Gossip).potential, nil
	}
	return nil, fmt.Errorf("%.40q is no part of it", param)
}

func (g *Gossip) clamp(p float64) float64 { return min(max(p, g.cfg.PMin), 1) }

func (g *Gossip) weight(ad *grid.Ad) float64 {
	switch s := g.equals(ad); {
	case s <= scarce:
		return g.cfg.WeightScarce
	case s < plentiful:
		return g.cfg.WeightNormal
	}
	return g.cfg.WeightPlentiful
}

func (g *Gossip) idleness(ad *grid.Ad) float64 {
	sum, n := busy(g.ad), 1.0
	for _, q := range g.peers {
		if q.Ad != nil && q.Hops <= vicinity {
			sum += busy(q.Ad)
			n++
		}
	}
	return 1 + g.cfg.GainLoad*(sum/n-busy(ad))
}

// busy returns the share of a node's cores that are in use.
func busy(ad *grid.Ad) float64 {
	if ad == nil || ad.Capacity.CPU == 0 {
		return 1
	}
	return 1 - float64(ad.Free.CPU)/float64(ad.Capacity.CPU)
}

func (g *Gossip) potential(_ grid.Time, p *Peer) float64 {
	power := func(ad *grid.Ad) float64 { return float64(ad.Capacity.CPU) * ad.Speed }
	sum, n := power(g.ad), 1.0
	for _, q := range g.peers {
		if q.Ad != nil && q.Hops <= p.Hops {
			sum += power(q.Ad)
			n++
		}
	}
	return within(power(p.Ad)*math.Exp(-float64(g.distance(p))/float64(g.cfg.Reach)) >= g.cfg.Potential*sum/n)
}
