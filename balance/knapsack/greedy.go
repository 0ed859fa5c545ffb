package knapsack

import (
	"cmp"
	"math"
	"slices"
)

// ranked is an item or an option with the key by which it goes, the greatest first.
type ranked struct {
	key float64
	of  int
}

// passes bounds how often the items are gone through for better options.
const passes = 4

// cost sets what each option costs at the prices.
func (s *Solver) cost() {
	p := s.p
	for k, c := range p.capacity {
		if s.unit[k] = 0; c > 0 {
			s.unit[k] = s.price[k] / c
		}
	}
	for o, at := range p.at {
		to := len(p.demands)
		if o+1 < len(p.at) {
			to = p.at[o+1]
		}
		sum := 0.0
		for _, d := range p.demands[at:to] {
			sum += s.unit[d.Of] * d.Amount
		}
		s.priced[o] = sum
	}
}

// greedy takes all options in the order of u / cost^beta [1, section 4.3].
func (s *Solver) greedy(beta float64) {
	s.cost()
	s.empty()
	s.order = s.order[:0]
	for o, u := range s.p.utility {
		if u > 0 {
			s.order = append(s.order, ranked{u / power(s.priced[o], beta), o})
		}
	}
	item := s.itemsOf()
	s.leastDemands()
	for q := newQueue(s.order); len(q) > 0 && !s.full(); {
		var x ranked
		x, q = q.pop()
		if i := item[x.of]; s.now.chosen[i] < 0 && s.room(x.of, -1) {
			s.change(i, x.of)
		}
	}
	s.improve()
}

// leastDemands finds the least that an option wants of each capacity, and whether there is one that wants nothing.
func (s *Solver) leastDemands() {
	p := s.p
	s.fewest, s.gratis = resized(s.fewest, len(p.capacity)), false
	for k := range s.fewest {
		s.fewest[k] = math.Inf(1)
	}
	for o, u := range p.utility {
		of := p.of(o)
		s.gratis = s.gratis || u > 0 && len(of) == 0
		for _, d := range of {
			s.fewest[d.Of] = min(s.fewest[d.Of], d.Amount)
		}
	}
}

// full reports whether nothing more can be given to an item that has none.
func (s *Solver) full() bool {
	if s.gratis {
		return false
	}
	for k, x := range s.fewest {
		if fits(s.now.used[k]+x, s.p.capacity[k]) {
			return false
		}
	}
	return true
}

func power(x, beta float64) float64 {
	switch beta {
	case 0:
		return 1
	case 1:
		return x
	}
	return math.Pow(x, beta)
}

// itemsOf is the item of each option. It lends the memory of what items want.
func (s *Solver) itemsOf() []int {
	s.search.item = resized(s.search.item, len(s.p.utility))
	for i := range s.p.first {
		for o, to := s.p.options(i); o < to; o++ {
			s.search.item[o] = i
		}
	}
	return s.search.item
}

// before reports whether a goes before b.
func (a ranked) before(b ranked) bool { return a.key > b.key || a.key == b.key && a.of < b.of }

func (s *Solver) sort() {
	slices.SortFunc(s.order, func(a, b ranked) int { return cmp.Or(cmp.Compare(b.key, a.key), a.of-b.of) })
}

// takeWanted takes items by the utility of what they want at the prices over its cost, each with the option that is
// best at the prices among those that fit. It keeps the plan if it is the best so far.
func (s *Solver) takeWanted() {
	p := s.p
	s.empty()
	s.order = s.order[:0]
	for i, o := range s.want {
		if o >= 0 {
			s.order = append(s.order, ranked{p.utility[o] / s.priced[o], i})
		}
	}
	s.sort()
	for _, x := range s.order {
		if o := s.fitting(x.of, 0); o >= 0 {
			s.change(x.of, o)
		}
	}
	s.improve()
	if s.now.value > s.best.value {
		s.best.copy(&s.now)
	}
}

// fitting is the option of an item without one that is best at the prices among those that fit, if it gains more than
// least; −1 = none.
func (s *Solver) fitting(i int, least float64) int {
	best := -1
	for o, to := s.p.options(i); o < to; o++ {
		if u := s.p.utility[o]; u > 0 && u-s.priced[o] > least && s.room(o, -1) {
			best, least = o, u-s.priced[o]
		}
	}
	return best
}

// improve changes items to options of more utility that fit, and gives items without one any that fits, until nothing
// changes or there is no room for anything.
func (s *Solver) improve() {
	for changed, pass := true, 0; changed && pass < passes && !s.full(); pass++ {
		changed = false
		for i := range s.p.first {
			if now := s.now.chosen[i]; now >= 0 {
				if o := s.upgrade(i, now); o >= 0 {
					s.change(i, o)
					changed = true
				}
			} else if o := s.fitting(i, math.Inf(-1)); o >= 0 {
				s.change(i, o)
				changed = true
			}
		}
	}
}

// upgrade is the option of more utility than the one that the item has which is best at the prices; −1 = none fits.
func (s *Solver) upgrade(i, now int) int {
	best, gain := -1, math.Inf(-1)
	for o, to := s.p.options(i); o < to; o++ {
		if u := s.p.utility[o]; u > s.p.utility[now] && u-s.priced[o] > gain && s.room(o, now) {
			best, gain = o, u-s.priced[o]
		}
	}
	return best
}

func (s *Solver) empty() {
	s.now.chosen, s.now.used, s.now.value = resized(s.now.chosen, s.p.Items()), resized(s.now.used, len(s.p.capacity)), 0
	for i := range s.now.chosen {
		s.now.chosen[i] = -1
	}
	clear(s.now.used)
}

// room reports whether an option fits, in the place of another one; −1 = of none.
func (s *Solver) room(o, instead int) bool {
	p := s.p
	for _, d := range p.of(o) {
		used := s.now.used[d.Of] + d.Amount
		if instead >= 0 {
			for _, x := range p.of(instead) {
				if x.Of == d.Of {
					used -= x.Amount
				}
			}
		}
		if !fits(used, p.capacity[d.Of]) {
			return false
		}
	}
	return true
}

// change gives an item an option; −1 = none.
func (s *Solver) change(i, o int) {
	if was := s.now.chosen[i]; was >= 0 {
		s.now.value -= s.p.utility[was]
		for _, d := range s.p.of(was) {
			s.now.used[d.Of] -= d.Amount
		}
	}
	if s.now.chosen[i] = o; o >= 0 {
		s.now.value += s.p.utility[o]
		for _, d := range s.p.of(o) {
			s.now.used[d.Of] += d.Amount
		}
	}
}
