package node

import (
	"skep/discovery"
	"skep/grid"
	"skep/node/rates"
)

// updateColumns gives the policies every changed column, if anything changed since the last call.
func (n *parts) updateColumns(now grid.Time) {
	r := n.rates
	r.Publish(now)
	stale := r.TakeChange()
	stale = n.policies.TakeChange() || stale
	stale = n.records.TakeChange() || stale
	if stale = n.failures.TakeChange() || stale; !stale {
		return
	}
	r.ResetRows()
	up := n.connected()
	for _, p := range up {
		r.AddRows(p.rates)
	}
	n.scratch.blacklists = n.scratch.blacklists[:0]
	for _, m := range r.Rows() {
		n.scratch.blacklists = append(n.scratch.blacklists, n.failures.Blacklist(m.Class))
	}
	n.policies.TellOwn(now, n.cfg.Self, n.column(now, connectedPeer{}), n.slots())
	for _, p := range up {
		n.policies.Tell(now, p.id, n.column(now, p), n.slotsOf(now, p), &p.columnMark)
	}
}

// column returns a node's column of the allocation LP: for each known class its arrival rate there and the rate at
// which one core runs it. A peer's rate includes the cost of moving the task:
//
//	μ' = 1 / (1/μ + overhead)
//
// A class not measured there gets the typical rate scaled by speed, if this node knows the class's needs and the peer
// meets them. p is zero for this node.
func (n *parts) column(now grid.Time, p connectedPeer) []grid.Rate {
	r, claims := n.rates, n.claims
	from, _ := r.Published()
	speed, ad := n.cfg.Speed, n.gossip.Ad()
	remote := p.peer != nil
	if remote {
		from, speed, ad = p.rates, p.speed, p.view.Ad
	}
	id := n.cfg.Self
	if remote {
		id = p.id
	}
	s, given := p.record, len(n.cfg.Given) > 0
	dst, trusted := n.scratch.rates[:0], 1.0
	if remote && !given {
		trusted = n.trustedShare(now, p.rates, n.cores(p), p.received)
	}
	rows := r.Rows()
	for k := range rows {
		m := &rows[k]
		x := grid.Rate{Class: m.Class}
		for i := range from {
			if from[i].Class == m.Class {
				x = from[i]
			}
		}
		x.Alpha *= trusted
		need := grid.CPU
		if spec := m.Here.Spec(); spec != nil {
			need = max(spec.Needs.CPU, 1)
			if ad != nil && discovery.Fit(&spec.Needs, spec.Engine, ad).Never() {
				x.Mu = 0
			} else if x.Mu == 0 {
				x.Mu = rates.RateAtSpeed(r.TypicalAt(k, claims), speed)
			}
		}
		if ad != nil && (ad.Shut() || remote && ad.Private) {
			x.Mu = 0
		}
		if remote && x.Mu > 0 && !given {
			x.Mu = s.ExecutionRate(now, x.Mu, r.TypicalAt(k, claims), m.Here.Expected(r.TypicalAt(k, claims)))
		}
		if remote && x.Mu > 0 {
			x.Mu = 1 / (1/x.Mu + r.Overhead())
		}
		x.Mu *= float64(grid.CPU) / float64(need)
		if x.Mu > 0 && n.scratch.blacklists[k].Excludes(now, id) {
			x.Mu = 0
		}
		if x.Alpha > 0 || x.Mu > 0 {
			dst = append(dst, x)
		}
	}
	n.scratch.rates = dst
	return dst
}
