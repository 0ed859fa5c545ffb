package node

import (
	"skep/grid"
	"skep/node/reputation"
)

// countReceived adds an attempt that a peer has given this node.
func (n *parts) countReceived(now grid.Time, id grid.NodeID, o *grid.Offer) {
	if p := n.peers.get(id); p != nil {
		cores := float64(o.Spec.Needs.CPU) / float64(grid.CPU)
		p.received.Add(now, n.cfg.Memory, cores/n.rates.Rate(o.Class, n.cfg.Speed, n.claims))
	}
}

// trustedShare is the share of a peer's claimed arrivals that is believed.
func (n *parts) trustedShare(now grid.Time, claim []grid.Rate, cores grid.MilliCPU, r reputation.Received) float64 {
	claimed := 0.0 // cores that the arrivals would occupy
	for i := range claim {
		if a := claim[i].Alpha; a > 0 {
			claimed += a / n.rates.Rate(claim[i].Class, 1, n.claims)
		}
	}
	return r.TrustedShare(now, n.cfg.Memory, claimed, cores, len(n.peers))
}
