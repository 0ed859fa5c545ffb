package knapsack

import (
	"cmp"
	"slices"
)

// search is the depth-first search for the optimum. At the prices of the bound each item has an option that is best for
// it, and loses something by any other, or by none. A solution loses what its items do, and what the capacities that it
// leaves would cost: its value is the bound less its loss. So a branch that has lost bound − value of the best solution
// cannot have a better one, and most options of most items never need to be looked at.
type search struct {
	item    []int
	open    []open
	choices []choice // of all open items
	nodes   int
	allowed float64 // what may be lost, less the part that is not worth looking for
}

// open is an item with more than one choice.
type open struct {
	item, from, to int
	second         float64 // what its second best choice loses
}

// choice is an option, or −1, and what is lost by it.
type choice struct {
	option int
	loss   float64
}

// exact searches with at most so many nodes. It returns how many there were, and whether it came to the end.
func (s *Solver) exact(most int) (nodes int, whole bool) {
	x := &s.search
	x.open, x.choices, x.nodes = x.open[:0], x.choices[:0], most
	copy(s.price, s.least)
	s.bound = min(s.bound, s.evaluate())
	s.allow()
	s.empty()
	for i := range s.p.first {
		s.openItem(i)
	}
	// What is decided soon by what it would lose goes first: the others are many only where little is lost so far.
	slices.SortStableFunc(x.open, func(a, b open) int {
		return cmp.Or(cmp.Compare(b.second, a.second), a.item-b.item)
	})
	whole = s.deepen(0, 0)
	return most - x.nodes, whole
}

// allow sets what may be lost on the way to a better solution.
func (s *Solver) allow() { s.search.allowed = s.bound - s.best.value - slack*s.bound }

// openItem lists the choices of an item with which a better solution can be, those that lose least first. One that is
// left alone is taken.
func (s *Solver) openItem(i int) {
	x, gain := &s.search, 0.0
	if o := s.want[i]; o >= 0 {
		gain = s.p.utility[o] - s.priced[o]
	}
	from := len(x.choices)
	if gain <= x.allowed {
		x.choices = append(x.choices, choice{-1, gain})
	}
	for o, to := s.p.options(i); o < to; o++ {
		if u := s.p.utility[o]; u > 0 && gain-(u-s.priced[o]) <= x.allowed {
			x.choices = append(x.choices, choice{o, max(0, gain-(u-s.priced[o]))})
		}
	}
	mine := x.choices[from:]
	slices.SortStableFunc(mine, func(a, b choice) int {
		return cmp.Or(cmp.Compare(a.loss, b.loss), cmp.Compare(b.option, a.option))
	})
	second := x.allowed
	if len(mine) > 1 {
		second = mine[1].loss
	}
	x.open = append(x.open, open{i, from, len(x.choices), second})
}

// deepen tries the choices of the items from the k-th on, where so much is lost. It reports false where it ran out of
// nodes.
func (s *Solver) deepen(k int, lost float64) bool {
	x := &s.search
	if k == len(x.open) {
		if s.now.value > s.best.value {
			s.best.copy(&s.now)
			s.allow()
		}
		return true
	}
	item := x.open[k].item
	for _, c := range x.choices[x.open[k].from:x.open[k].to] {
		if lost+c.loss > x.allowed {
			break
		}
		if x.nodes == 0 {
			return false
		}
		x.nodes--
		if c.option >= 0 && !s.room(c.option, -1) {
			continue
		}
		s.change(item, c.option)
		whole := s.deepen(k+1, lost+c.loss)
		s.change(item, -1)
		if !whole {
			return false
		}
	}
	return true
}
