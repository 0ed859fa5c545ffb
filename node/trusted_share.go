package node

import (
	"math"

	"skep/grid"
)

// Arrival rates that other nodes claim weigh in the allocation like real ones, and cost nothing to claim. They are
// believed as far as work was seen, taking what this node receives as a sample of what they give to all, or if the
// claim is so small that they could execute it themselves.

// maxUnseenCores is the number of its own cores for which a node's claimed arrivals are believed unseen.
const maxUnseenCores = 8

// receivedWork is the work that a peer has given this node, core-seconds, decayed with the time constant of the arrival
// rates.
type receivedWork struct {
	work float64
	at   grid.Time
}

// countReceived adds an attempt that a peer has given this node.
func (n *Node) countReceived(now grid.Time, id grid.NodeID, o *grid.Offer) {
	p := n.peers.get(id)
	if p == nil {
		return
	}
	g := &p.received
	g.work = g.work*n.rates.decay(now, g.at) + float64(o.Spec.Needs.CPU)/float64(grid.CPU)/n.rates.guess(o.Class, n.cfg.Speed)
	g.at = now
}

// trustedShare is the share of a peer's claimed arrivals that is believed. With r_i the typical execution rate of a
// class on one core,
//
//	claimed = Σ_i α_i / r_i                cores that the claim would occupy
//	borne   = max(own, nodes·received/τ)   cores that are plausible
//
// where own is the peer's own cores, at most maxUnseenCores, and received/τ is the work that it gave this node, times
// the number of peers.
func (n *Node) trustedShare(now grid.Time, rates []grid.Rate, cores grid.MilliCPU, r receivedWork) float64 {
	claimed := 0.0
	for i := range rates {
		if a := rates[i].Alpha; a > 0 {
			claimed += a / rateAtSpeed(n.rates.typical(rates[i].Class), 1)
		}
	}
	own := float64(min(cores, maxUnseenCores*grid.CPU)) / float64(grid.CPU)
	if claimed <= own {
		return 1
	}
	seen := r.work * n.rates.decay(now, r.at) / n.cfg.Memory.Seconds()
	borne := max(own, float64(len(n.peers))*seen)
	if math.IsInf(claimed, 0) || math.IsNaN(claimed) {
		return 0
	}
	return min(1, borne/claimed)
}
