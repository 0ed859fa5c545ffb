package peers

import (
	"skep/discovery"
	"skep/grid"
	"skep/node/rates"
)

// UpdateColumns gives the policies every changed column, if anything changed since the last call.
func (p *Peers) UpdateColumns(now grid.Time) {
	r := p.cfg.Rates
	r.Publish(now)
	stale := r.TakeChange()
	stale = p.cfg.Policies.TakeChange() || stale
	stale = p.records.TakeChange() || stale
	if stale = p.failures.TakeChange() || stale; !stale {
		return
	}
	r.ResetRows()
	up := p.connected()
	for _, m := range up {
		r.AddRows(m.rates)
	}
	p.cfg.Scratch.blacklists = p.cfg.Scratch.blacklists[:0]
	for _, row := range r.Rows() {
		p.cfg.Scratch.blacklists = append(p.cfg.Scratch.blacklists, p.failures.Blacklist(row.Class))
	}
	p.cfg.Policies.TellOwn(now, p.cfg.Self, p.column(now, connectedPeer{}), p.slots())
	for _, m := range up {
		p.cfg.Policies.Tell(now, m.id, p.column(now, m), p.slotsOf(now, m), &m.columnMark)
	}
}

// column returns a node's column of the allocation LP: for each known class its arrival rate there and the rate at
// which one core runs it. A peer's rate includes the cost of moving the task:
//
//	μ' = 1 / (1/μ + overhead)
//
// A class not measured there gets the typical rate scaled by speed, if this node knows the class's needs and the peer
// meets them. m is zero for this node.
func (p *Peers) column(now grid.Time, m connectedPeer) []grid.Rate {
	r, stated := p.cfg.Rates, p.statedRates
	from, _ := r.Published()
	speed, ad := p.cfg.Speed, p.cfg.Gossip.Ad()
	remote := m.peer != nil
	if remote {
		from, speed, ad = m.rates, m.speed, m.view.Ad
	}
	id := p.cfg.Self
	if remote {
		id = m.id
	}
	s, given := m.record, p.cfg.RatesGiven
	dst, trusted := p.cfg.Scratch.rates[:0], 1.0
	if remote && !given {
		trusted = p.trustedShare(now, m.rates, p.cores(m), m.told().received)
	}
	rows := r.Rows()
	for k := range rows {
		row := &rows[k]
		x := grid.Rate{Class: row.Class}
		for i := range from {
			if from[i].Class == row.Class {
				x = from[i]
			}
		}
		x.Alpha *= trusted
		slots := 1.0
		if spec := row.Here.Spec(); spec != nil {
			slots = float64(grid.CPU) / float64(max(spec.Needs.CPU, 1))
			if ad != nil && spec.Needs.Counts != "" {
				slots = perCore(ad.Capacity, spec.Needs.Resources)
			}
			if ad != nil && discovery.Suits(spec, ad).Never() {
				x.Mu = 0
			} else if x.Mu == 0 {
				x.Mu = rates.RateAtSpeed(r.TypicalAt(k, stated), speed)
			}
		}
		if ad != nil && (ad.Shut() || remote && ad.Private) {
			x.Mu = 0
		}
		if remote && x.Mu > 0 && !given {
			x.Mu = s.ExecutionRate(now, x.Mu, r.TypicalAt(k, stated), row.Here.Expected(r.TypicalAt(k, stated)))
		}
		if remote && x.Mu > 0 {
			x.Mu = 1 / (1/x.Mu + r.Overhead(m.view.RTT, inputBytes(row.Here.Spec())))
		}
		x.Mu *= slots
		if x.Mu > 0 && p.cfg.Scratch.blacklists[k].Excludes(now, id) {
			x.Mu = 0
		}
		if x.Alpha > 0 || x.Mu > 0 {
			dst = append(dst, x)
		}
	}
	p.cfg.Scratch.rates = dst
	return dst
}
