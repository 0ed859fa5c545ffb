package balance

import (
	"math"

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
