package allocator

import (
	"cmp"
	"math"
	"slices"

	"skep/balance/knapsack"
)

// item is a task of the knapsack.
type item struct {
	kind     int
	from, to int  // its ways
	first    bool // it is the first of its kind
}

// pick is a task that the knapsack has chosen, and its way.
type pick struct {
	kind int
	way  *Way
}

// choose picks the tasks that begin, and their ways.
func (a *Allocator) choose() {
	a.picks = a.picks[:0]
	a.capacities()
	a.collect()
	if len(a.items) == 0 {
		return
	}
	p := &a.problem
	p.Reset(a.free...)
	most := max(leastWays, mostWays/len(a.items))
	for _, x := range a.items {
		p.Item()
		for _, w := range a.options[x.from:min(x.to, x.from+most)] {
			u := w.utility
			if x.first {
				u = w.first
			}
			p.Option(u*(1+near*a.kinds[x.kind].promptness(w)), knapsack.Demand{Of: w.Node, Amount: w.Cores},
				knapsack.Demand{Of: len(a.nodes) + w.Node, Amount: w.Counted})
		}
	}
	r := a.solver.Solve(p, solve)
	for k, x := range a.items {
		if r.Choice[k] >= 0 {
			a.picks = append(a.picks, pick{x.kind, a.options[x.from+r.Choice[k]]})
		}
	}
}

// settle places the picks, those first that have the ways which suit them best. A task that would be done sooner behind
// what runs, or begins, at another node is left.
func (a *Allocator) settle() {
	slices.SortStableFunc(a.picks, func(x, y pick) int {
		return cmp.Compare(a.kinds[y.kind].promptness(y.way), a.kinds[x.kind].promptness(x.way))
	})
	for _, x := range a.picks {
		if n := &a.nodes[x.way.Node]; x.way.start(n)+x.way.Alone <= a.behind(x) {
			a.place(x.kind, x.way)
		}
	}
}

// behind is when a task would be done that waits for another node than it was picked for.
func (a *Allocator) behind(x pick) float64 {
	end := math.Inf(1)
	for k := range a.kinds[x.kind].Ways {
		w := &a.kinds[x.kind].Ways[k]
		if start := w.start(&a.nodes[w.Node]); w.Node != x.way.Node && start > 0 {
			end = min(end, start+w.Alone)
		}
	}
	return end
}

// promptness is 1 for the soonest way of a kind, and less for those that are done later.
func (k *Kind) promptness(w *Way) float64 {
	if !(w.end > 0) {
		return 1
	}
	return k.soonest / w.end
}

// capacities are the cores that are idle at each node, or else those of the largest task that it could start by until.
func (a *Allocator) capacities() {
	a.free = a.free[:0]
	for j := range a.nodes {
		a.free = append(a.free, a.nodes[j].Idle)
	}
	for range a.nodes {
		a.free = append(a.free, 1)
	}
	for i := range a.kinds {
		for x := range a.kinds[i].Ways {
			w := &a.kinds[i].Ways[x]
			if a.nodes[w.Node].Idle <= 0 && a.opensBy(w) {
				a.free[w.Node] = max(a.free[w.Node], w.Cores)
			}
		}
	}
}

// opensBy reports whether a way could begin by until.
func (a *Allocator) opensBy(w *Way) bool {
	return w.end < math.Inf(1) && w.start(&a.nodes[w.Node]) <= a.until
}

// collect makes items of the tasks of the most utility for a core that could begin, no more than would fit alone.
func (a *Allocator) collect() {
	a.items, a.options = a.items[:0], a.options[:0]
	most := min(mostItems, a.room.soon)
	for _, i := range a.order {
		k, from, room := &a.kinds[i], len(a.options), 0.0
		for x := range k.Ways {
			w := &k.Ways[x]
			if !a.opensBy(w) || w.utility <= 0 && w.first <= 0 {
				continue
			}
			a.options = append(a.options, w)
			room += max(math.Floor(a.free[w.Node]/w.Cores), 1)
		}
		slices.SortFunc(a.options[from:], func(v, w *Way) int {
			return cmp.Or(cmp.Compare(w.utility, v.utility), cmp.Compare(v.end, w.end), cmp.Compare(v.tie, w.tie),
				cmp.Compare(v.Node, w.Node), cmp.Compare(v.Option, w.Option))
		})
		for n := range int(min(float64(k.Tasks), room)) {
			if len(a.items) == most {
				return
			}
			a.items = append(a.items, item{i, from, len(a.options), n == 0})
		}
	}
}
