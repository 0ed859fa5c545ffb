package allocator

import (
	"cmp"
	"math"
	"slices"

	"skep/balance/knapsack"
	"skep/balance/utility"
)

// Bounds of a cycle's knapsack: tasks that it chooses among, those of the most utility for a core, and ways of all of
// them together, of each task those of the most utility. What is beyond is placed by the second stage.
const (
	mostItems = 256
	mostWays  = 16384
	leastWays = 16 // of each task
)

// near is the part of utility up to which ways count as equal, of which the sooner one is taken.
const near = 1e-3

// solve bounds the work of a knapsack: some 50 passes over it, and the optimum of small ones.
var solve = knapsack.Config{Beta: 1, Rounds: 50, Nodes: 2000}

// Allocator allocates by a utility function. Its memory is used again in the next cycle.
type Allocator struct {
	Function *utility.Function // that has passed its check

	kinds []Kind
	nodes []Node
	until float64
	room  budget
	dst   []Placement

	cycle   utility.Cycle
	seen    utility.Facts // of a way
	order   []int         // kinds, by utility for a core
	items   []item
	options []*Way    // of the kinds that have items
	picks   []pick    // of the knapsack
	free    []float64 // capacities: cores of each node, then counted resources of each
	problem knapsack.Problem
	solver  knapsack.Solver
}

// budget is how many placements may still be made, of those that begin by until and of those that begin later.
type budget struct{ soon, later int }

// Allocate appends the places of tasks: on one node by their starts. It ends when all have one that can, when every
// node starts its next task after until, or after most placements with room by until. As many may have theirs later.
// What it did stays in kinds and nodes. With until at +Inf all tasks get a place, and the knapsack is over what each
// node starts next, whenever that is.
func (a *Allocator) Allocate(kinds []Kind, nodes []Node, until float64, most int, dst []Placement) []Placement {
	a.kinds, a.nodes, a.until, a.room, a.dst = kinds, nodes, until, budget{most, most}, dst
	for j := range nodes {
		nodes[j].begin()
	}
	a.value()
	if most > 0 {
		a.choose()
		a.settle()
		a.fill()
	}
	dst, a.dst = a.dst, nil
	return dst
}

// value values all ways, as if each were taken first.
func (a *Allocator) value() {
	a.cycle.Begin(a.Function)
	for i := range a.kinds {
		a.kinds[i].begin(a.nodes)
		a.facts(&a.kinds[i], false)
	}
	a.order = a.order[:0]
	for i := range a.kinds {
		k := &a.kinds[i]
		a.facts(k, true)
		k.best = 0
		for x := range k.Ways {
			k.best = max(k.best, k.Ways[x].density(k.Ways[x].utility))
		}
		a.order = append(a.order, i)
	}
	slices.SortStableFunc(a.order, func(x, y int) int { return cmp.Compare(a.kinds[y].best, a.kinds[x].best) })
}

// begin computes what does not depend on other kinds.
func (k *Kind) begin(nodes []Node) {
	k.done, k.length, k.soonest = 0, math.Inf(1), math.Inf(1)
	for x := range k.Ways {
		w := &k.Ways[x]
		w.end, w.tie = w.start(&nodes[w.Node])+w.Alone, nodes[w.Node].Tie
		k.length, k.soonest = min(k.length, w.Alone*w.Speedup), min(k.soonest, w.end)
	}
}

// facts goes through the ways of a kind that can be, of its first task and of the others: it shows their facts to the
// cycle, and once all are seen it values them.
func (a *Allocator) facts(k *Kind, seen bool) {
	for x := range k.Ways {
		w := &k.Ways[x]
		if w.utility, w.first = 0, 0; !(w.end < math.Inf(1)) {
			continue
		}
		f := &a.seen
		*f = utility.Facts{Value: k.Bid * k.length * w.Worth, Waited: k.Waited + k.soonest - w.end, Length: k.length,
			Remaining: w.end, Transfer: w.Fetch, Cost: w.Alone * w.Cores}
		if seen {
			w.utility = a.cycle.Of(f)
			w.first = w.utility
		} else {
			a.cycle.See(f)
		}
		if !(k.Aged > k.Bid) {
			continue
		}
		if f.Value = k.Aged * k.length * w.Worth; seen {
			w.first = a.cycle.Of(f)
		} else {
			a.cycle.See(f)
		}
	}
}

// place gives the next task of a kind a place.
func (a *Allocator) place(kind int, w *Way) {
	k, n := &a.kinds[kind], &a.nodes[w.Node]
	start := n.give(w)
	if start <= a.until {
		a.room.soon--
	} else {
		a.room.later--
	}
	k.done++
	a.dst = append(a.dst, Placement{Kind: kind, Node: w.Node, Option: w.Option, Free: start, Start: start,
		End: start + w.Alone})
}

// fill places what the knapsack has left, the most utility for a core first, each task where it is done soonest. When
// as many have a place later as may, what would wait longer holds nobody back.
func (a *Allocator) fill() {
	for _, i := range a.order {
		for k := &a.kinds[i]; k.done < k.Tasks; {
			if a.room.soon <= 0 || !a.opens() {
				return
			}
			w, _ := a.soonest(k)
			if w == nil || a.room.later <= 0 && w.start(&a.nodes[w.Node]) > a.until {
				break
			}
			a.place(i, w)
		}
	}
}

// opens reports whether some node starts its next task by until.
func (a *Allocator) opens() bool {
	for j := range a.nodes {
		n := &a.nodes[j]
		if n.Ready <= a.until && (n.Idle > 0 || n.work/n.Slots <= a.until) {
			return true
		}
	}
	return false
}

// soonest is the way in which a further task of a kind would be done first, and when; nil = there is none.
func (a *Allocator) soonest(k *Kind) (best *Way, end float64) {
	end = math.Inf(1)
	for x := range k.Ways {
		w := &k.Ways[x]
		at := w.start(&a.nodes[w.Node]) + w.Alone
		if at < end || at == end && best != nil && w.tie < best.tie {
			best, end = w, at
		}
	}
	return best, end
}

// Left is when the next task of a kind that has no place would be done, from what is known at the end of the cycle;
// +Inf if nobody can run it.
func (a *Allocator) Left(kind int) float64 {
	_, end := a.soonest(&a.kinds[kind])
	return end
}

// Next is when the first of the tasks that have no place would begin, seconds from now on; +Inf if none would.
func (a *Allocator) Next() float64 {
	next := math.Inf(1)
	for i := range a.kinds {
		for x := range a.kinds[i].Ways {
			w := &a.kinds[i].Ways[x]
			if a.kinds[i].done < a.kinds[i].Tasks && w.Alone < math.Inf(1) {
				next = min(next, w.start(&a.nodes[w.Node]))
			}
		}
	}
	return next
}
