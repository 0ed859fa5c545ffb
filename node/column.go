package node

import (
	"slices"

	"skep/balance"
	"skep/discovery"
	"skep/grid"
)

// columns tells the policies of every column that changed, and forgets to do it again until something does.
func (n *Node) columns(now grid.Time) {
	r := n.rates
	r.publish(now)
	if !r.stale {
		return
	}
	r.stale = false
	clear(r.norm)
	r.names = r.names[:0]
	r.add(r.own, r.cfg.Speed)
	up := n.connected()
	for _, p := range up {
		r.add(p.rates, p.speed)
	}
	slices.Sort(r.names)
	self := n.column(nil)
	if !slices.Equal(self, r.noted) {
		r.noted = append(r.noted[:0], self...)
		n.note(balance.Outcome{Kind: balance.Rates, At: now, Node: n.cfg.Self, Rates: self, Slots: float64(n.cfg.Capacity.CPU) / 1000})
	}
	for _, p := range up {
		if c := n.column(p); !slices.Equal(c, p.noted) {
			p.noted = append(p.noted[:0], c...)
			n.note(balance.Outcome{Kind: balance.Rates, At: now, Node: p.id, Rates: c, Slots: float64(p.cores) / 1000})
		}
	}
}

// add counts a node's rates into the network's means.
func (r *rates) add(rates []grid.Rate, speed float64) {
	for _, x := range rates {
		m, known := r.norm[x.Class]
		if !known {
			r.names = append(r.names, x.Class)
		}
		if x.Mu > 0 {
			m.sum += x.Mu / speed
			m.n++
		}
		r.norm[x.Class] = m
	}
	for _, c := range r.order {
		if _, known := r.norm[c.name]; !known && c.spec != nil {
			r.norm[c.name] = mean{}
			r.names = append(r.names, c.name)
		}
	}
}

// column is a node's column of the allocation LP: for each known class what arrives there, and the rate at
// which one core of it would run the class. A peer's rate is that of a task moved there:
//
//	μ' = 1 / (1/μ + overhead)
//
// A class that is not measured there gets the network's mean scaled by speed, if this node knows what the
// class needs and the peer has it. p is nil for this node itself.
func (n *Node) column(p *peer) []grid.Rate {
	r := n.rates
	from, speed, ad := r.own, r.cfg.Speed, n.gossip.Ad()
	if p != nil {
		from, speed, ad = p.rates, p.speed, nil
		if g := n.gossip.Peer(p.id); g != nil {
			ad = g.Ad
		}
	}
	dst := n.scratch.rates[:0]
	for _, name := range r.names {
		c := r.classes[name]
		x := grid.Rate{Class: name}
		for _, o := range from {
			if o.Class == name {
				x = o
			}
		}
		need := grid.CPU
		if c != nil && c.spec != nil {
			need = max(c.spec.Needs.CPU, 1)
			if ad != nil && discovery.Fit(&c.spec.Needs, c.spec.Engine, ad).Never() {
				x.Mu = 0
			} else if x.Mu == 0 {
				x.Mu = r.guess(name, speed)
			}
		}
		if p != nil && x.Mu > 0 {
			x.Mu = 1 / (1/x.Mu + r.overhead)
		}
		x.Mu *= float64(grid.CPU) / float64(need)
		if x.Alpha > 0 || x.Mu > 0 {
			dst = append(dst, x)
		}
	}
	n.scratch.rates = dst
	return dst
}
