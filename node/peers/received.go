package peers

import (
	"skep/grid"
	"skep/node/profile"
	"skep/node/reputation"
)

// What peers state of their arrivals, against what they have given this node.

// CountReceived adds an attempt that a peer has given this node.
func (p *Peers) CountReceived(now grid.Time, id grid.NodeID, o *grid.Offer) {
	if q := p.set.get(id); q != nil {
		cores := o.Spec.AsOption(o.Option).Needs.CPU.Cores() / o.Spec.Needs.SpeedupOf(o.Option)
		q.meet().received.Add(now, p.cfg.ArrivalMemory, cores/p.cfg.Rates.Rate(o.Class, p.cfg.Speed, p.statedRates))
	}
}

// StatedLoads appends what the nodes in the view state of their arrivals, and how much of it is believed. The ads must
// not be kept for longer than the result.
func (p *Peers) StatedLoads(now grid.Time, dst []profile.StatedLoad) []profile.StatedLoad {
	for _, g := range p.cfg.Gossip.Peers() {
		if g.Ad == nil {
			continue
		}
		received := reputation.Received{}
		if q := p.set.get(g.Node()); q != nil {
			received = q.told().received
		}
		class, _ := g.Ad.Label(profile.LabelClass)
		dst = append(dst, profile.StatedLoad{Class: class, Rates: g.Ad.Rates,
			Trusted: p.trustedShare(now, g.Ad.Rates, g.Ad.Capacity.CPU, received)})
	}
	return dst
}

// trustedShare is the share of a peer's stated arrivals that is believed.
func (p *Peers) trustedShare(now grid.Time, rates []grid.Rate, cores grid.MilliCPU, r reputation.Received) float64 {
	stated := 0.0 // cores that the arrivals would occupy
	for i := range rates {
		if a := rates[i].Alpha; a > 0 {
			stated += a / p.cfg.Rates.Rate(rates[i].Class, 1, p.statedRates)
		}
	}
	return r.TrustedShare(now, p.cfg.ArrivalMemory, stated, cores, len(p.set))
}
