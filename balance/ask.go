package balance

import (
	"math"
	"slices"

	"skep/balance/market"
	"skep/grid"
)

// rank scores the view by completion time (or by ready time) as known without a message, so that the
// nodes nothing is known of come last and still can be asked.
func (d *decider) rank(now grid.Time, v View, ready bool) {
	for k := range v.Nodes {
		s := &v.Nodes[k]
		e := s.ECT
		if ready {
			e = s.Ready
		}
		d.scores = append(d.scores, min(sound(e)+d.charge(now, s), math.MaxFloat64))
	}
}

// ask appends the nodes that are to be polled out of those scored: with limit 0 all. Otherwise the limit
// that score least and one more at random, so that a node of which only old news is known is not
// forgotten; the decider itself is free and always asked where it was scored.
func (d *decider) ask(v View, limit int, dst []grid.NodeID) []grid.NodeID {
	self, others := -1, 0
	for k, s := range d.scores {
		if math.IsInf(s, 1) {
			continue
		}
		if v.Nodes[k].Node == v.Self {
			self = k
		} else {
			others++
		}
	}
	if limit <= 0 || others <= limit {
		for k, s := range d.scores {
			if !math.IsInf(s, 1) {
				dst = append(dst, v.Nodes[k].Node)
			}
		}
		return dst
	}
	if self >= 0 {
		d.scores[self] = math.Inf(1)
		dst = append(dst, v.Self)
	}
	// Many idle nodes look alike: from a random start deciders do not all ask the same.
	d.picked = least(d.picked, d.scores, limit, d.rand.IntN(len(d.scores)))
	for _, k := range d.picked {
		d.scores[k] = math.Inf(1)
		dst = append(dst, v.Nodes[k].Node)
	}
	nth := d.rand.IntN(others - limit)
	for k, s := range d.scores {
		if math.IsInf(s, 1) {
			continue
		}
		if nth == 0 {
			return append(dst, v.Nodes[k].Node)
		}
		nth--
	}
	return dst
}

// runnable takes the scores of the nodes away that cannot run the class, as far as rates are known,
// unless none would be left.
func (d *decider) runnable(t *grid.Task, v View) {
	class := d.rates.wanted(t.Class)
	able := func(k int) bool {
		j, ok := d.rates.lookup(&v.Nodes[k].Node)
		if !ok {
			return true
		}
		mu, known := d.rates.execution(j, class)
		return !known || mu > 0
	}
	left := 0
	for k := range v.Nodes {
		if able(k) {
			left++
		}
	}
	if left == 0 || left == len(v.Nodes) {
		return
	}
	for k := range v.Nodes {
		if !able(k) {
			d.scores[k] = math.Inf(1)
		}
	}
}

// executions scores states by the execution time of the task alone, seconds: from the rates, else as far
// as the node tells. A node that cannot run it, or of which neither is known, is out.
func (d *decider) executions(t *grid.Task, states []State) {
	d.scores = d.scores[:0]
	class := d.rates.wanted(t.Class)
	for k := range states {
		s := &states[k]
		e := execution(s)
		if j, ok := d.rates.lookup(&s.Node); ok {
			if mu, known := d.rates.execution(j, class); known {
				e = 0
				if mu > 0 {
					e = 1 / mu
				}
			}
		}
		if e == 0 {
			e = math.Inf(1)
		}
		d.scores = append(d.scores, e)
	}
}

// findAt is find for who has an idea where to look first.
func findAt(v View, id grid.NodeID, at int) int {
	if at >= 0 && at < len(v.Nodes) && v.Nodes[at].Node == id {
		return at
	}
	return find(v, id)
}

// find returns the position of a node in a view, −1 if it is not there.
func find(v View, id grid.NodeID) int {
	lo, hi := 0, len(v.Nodes)
	for lo < hi {
		mid := (lo + hi) / 2
		if v.Nodes[mid].Node.Compare(id) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(v.Nodes) && v.Nodes[lo].Node == id {
		return lo
	}
	return -1
}

// Poll asks as Ask does, for all tasks of the job together.
func (p *trader) Poll(now grid.Time, t *grid.Task, v View, dst []grid.NodeID) []grid.NodeID {
	if !p.meet(t, v) {
		return dst
	}
	n, bid := 1, grid.MaxBid
	if t.Spec != nil {
		n, bid = int(min(t.Spec.Count, grid.MaxCount)), t.Spec.Bid()
	}
	return p.Ask(now, n, bid, v, dst)
}

// Ask appends PollMax nodes for each task, those where a task would be done first, under Cheapest half of them those
// where it costs least; of those whose price is above the highest bid only the cheapest, which says what it asks now.
func (p *trader) Ask(now grid.Time, tasks int, bid grid.Bid, v View, dst []grid.NodeID) []grid.NodeID {
	if p.cfg.PollMax <= 0 {
		return everybody(v, dst)
	}
	p.scores, p.picked = p.scores[:0], p.picked[:0]
	p.rank(now, v, false)
	p.scoreOutbid(bid, v)
	cheapest, dear := -1, 0
	for k := range v.Nodes {
		s := &v.Nodes[k]
		if p.Pays(bid, s) || s.Answer {
			continue
		}
		p.scores[k] = math.Inf(1)
		if dear++; cheapest < 0 || s.Price < v.Nodes[cheapest].Price {
			cheapest = k
		}
	}
	if dear < len(v.Nodes) {
		n := max(min(tasks, len(v.Nodes)), 1)
		limit := p.cfg.PollMax * n
		if p.Choice == market.Cheapest { // the soonest as well: one for each task at least
			byCost := max(limit-limit/2, n)
			limit = max(limit/2, n)
			dst = p.askCheapest(now, byCost, v, dst)
		}
		dst = p.ask(v, limit, dst)
	}
	if cheapest >= 0 {
		dst = append(dst, v.Nodes[cheapest].Node)
	}
	return dst
}

// scoreOutbid scores the nodes that would have a task suspended for a bid, by what their ads say of what runs, by its
// execution time there: it would begin at once.
func (p *trader) scoreOutbid(bid grid.Bid, v View) {
	if p.Candidate != market.Outbids {
		return
	}
	for k := range v.Nodes {
		s := &v.Nodes[k]
		if x := execution(s); x > 0 && s.Outbid > 0 && bid > s.Outbid && bid.Number() >= p.Outbid*s.Outbid.Number() {
			p.scores[k] = min(p.scores[k], x)
		}
	}
}

// askCheapest appends nodes out of those scored where a task costs least, and takes their scores away: first those with
// a free slot by when a round looks for one, since others get nothing in it. Of equals deciders ask different ones.
func (p *trader) askCheapest(now grid.Time, limit int, v View, dst []grid.NodeID) []grid.NodeID {
	start, until := p.rand.IntN(len(v.Nodes)), max(p.round.Until, minTick) // as in the last round
	p.costs, p.picked = p.costs[:0], p.picked[:0]
	for k := range v.Nodes {
		s := &v.Nodes[k]
		p.costs = append(p.costs, market.Cost{Price: s.Price.Number(), Seconds: execution(s),
			Busy: sound(s.Ready)+p.charge(now, s)-s.RTT.Seconds() > until})
		if at := (start + k) % len(v.Nodes); !math.IsInf(p.scores[at], 1) && v.Nodes[at].Node != v.Self {
			p.picked = append(p.picked, int32(at))
		}
	}
	slices.SortStableFunc(p.picked, func(a, b int32) int { return p.costs[a].Compare(p.costs[b]) })
	for _, k := range p.picked[:min(limit, len(p.picked))] {
		p.scores[k] = math.Inf(1)
		dst = append(dst, v.Nodes[k].Node)
	}
	p.picked = p.picked[:0]
	return dst
}
