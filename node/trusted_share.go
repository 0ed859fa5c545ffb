package node

import (
	"math"

	"skep/grid"
)

// What others say arrives at them weighs in the allocation like what does arrive, and costs them nothing to say. It counts as far
// as the work can be seen, here as a part of what they give everybody, or is so little that they could do it themselves.

// maxUnseenCores is how many of its own cores a node may claim arrivals for of which nothing was seen.
const maxUnseenCores = 8

// receivedWork is the work that a peer has given this node, core-seconds, decayed with the time constant of arrivals.
type receivedWork struct {
	work float64
	at   grid.Time
}

// countReceived counts an attempt that a peer has given this node.
func (n *Node) countReceived(now grid.Time, id grid.NodeID, o *grid.Offer) {
	p := n.peers.get(id)
	if p == nil {
		return
	}
	g := &p.received
	g.work = g.work*n.rates.decay(now, g.at) + float64(o.Spec.Needs.CPU)/float64(grid.CPU)/n.rates.guess(o.Class, n.cfg.Speed)
	g.at = now
}

// trustedShare is the share of its claimed arrivals that a peer is believed. With r_i the usual execution rate of a class on one core,
//
//	claimed = Σ_i α_i / r_i      cores that they would take
//	borne   = max(own, nodes·gifts/τ)
//
// where own is what it has itself, at most modest, and gifts/τ is what it gave this node, of as many as are connected.
func (n *Node) trustedShare(now grid.Time, rates []grid.Rate, cores grid.MilliCPU, g receivedWork) float64 {
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
	seen := g.work * n.rates.decay(now, g.at) / n.cfg.Memory.Seconds()
	borne := max(own, float64(len(n.peers))*seen)
	if math.IsInf(claimed, 0) || math.IsNaN(claimed) {
		return 0
	}
	return min(1, borne/claimed)
}
