package peers

import (
	"skep/grid"
	"skep/node/profile"
	"skep/node/reputation"
)

// What peers claim of their arrivals, against what they have given this node.

// CountReceived adds an attempt that a peer has given this node.
func (p *Peers) CountReceived(now grid.Time, id grid.NodeID, o *grid.Offer) {
	if q := p.set.get(id); q != nil {
		cores := float64(o.Spec.Needs.CPU) / float64(grid.CPU)
		q.received.Add(now, p.cfg.Memory, cores/p.cfg.Rates.Rate(o.Class, p.cfg.Speed, p.claims))
	}
}

// Claims appends what the nodes in the view claim of their arrivals, and how much of it is believed. The ads must not
// be kept for longer than the claims.
func (p *Peers) Claims(now grid.Time, dst []profile.Claim) []profile.Claim {
	for _, g := range p.cfg.Gossip.Peers() {
		if g.Ad == nil {
			continue
		}
		received := reputation.Received{}
		if q := p.set.get(g.Node()); q != nil {
			received = q.received
		}
		class, _ := g.Ad.Label(profile.LabelClass)
		dst = append(dst, profile.Claim{Class: class, Rates: g.Ad.Rates,
			Trusted: p.trustedShare(now, g.Ad.Rates, g.Ad.Capacity.CPU, received)})
	}
	return dst
}

// trustedShare is the share of a peer's claimed arrivals that is believed.
func (p *Peers) trustedShare(now grid.Time, claim []grid.Rate, cores grid.MilliCPU, r reputation.Received) float64 {
	claimed := 0.0 // cores that the arrivals would occupy
	for i := range claim {
		if a := claim[i].Alpha; a > 0 {
			claimed += a / p.cfg.Rates.Rate(claim[i].Class, 1, p.claims)
		}
	}
	return r.TrustedShare(now, p.cfg.Memory, claimed, cores, len(p.set))
}
