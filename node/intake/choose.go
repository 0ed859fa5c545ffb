package intake

import (
	"cmp"
	"slices"

	"skep/balance/knapsack"
	"skep/balance/utility"
	"skep/grid"
)

// solve bounds the work of a knapsack: some 50 passes over the offers, and the optimum of few.
var solve = knapsack.Config{Beta: 1, Rounds: 50, Nodes: 2000}

// Decision is what becomes of an offer.
type Decision struct {
	Gathered
	Prices *grid.Prices // for which it is refused; nil = it is taken
}

// chooser is the knapsack and its memory.
type chooser struct {
	cycle   utility.Cycle
	problem knapsack.Problem
	solver  knapsack.Solver
	worth   []float64 // utility of each offer
}

// Close decides about all offers that were gathered, and closes the window. It calls refuse for each that others
// outweigh; Next returns those that are taken, the most utility first, and then those that do not fit what is free any
// more, as if they had not been gathered. Free is as in Gather.
func (w *Window) Close(free grid.Resources, refuse func(*Decision)) {
	for _, d := range w.decide(free) {
		if d.Prices != nil {
			w.remember(d.Offer.ID.Task)
			refuse(&d)
			continue
		}
		w.taken = append(w.taken, d.Gathered)
	}
}

// Next returns the next offer that was taken, and who made it; nil = there is none. It is not gathered again.
func (w *Window) Next() (from grid.NodeID, o *grid.Offer) {
	if len(w.taken) == 0 {
		w.settled = grid.AttemptID{}
		return from, nil
	}
	x := w.taken[0]
	w.taken, w.settled = w.taken[1:], x.Offer.ID
	return x.From, &x.Offer
}

// decide closes the window, and says what becomes of its offers.
func (w *Window) decide(free grid.Resources) (all []Decision) {
	offers := w.offers
	w.offers, w.closes = nil, 0
	fitting := make([]*Gathered, 0, len(offers))
	var late []Decision
	for k := range offers {
		if x := &offers[k]; free.Fits(x.Facts.Needs) {
			fitting = append(fitting, x)
		} else {
			late = append(late, Decision{Gathered: *x})
		}
	}
	if len(fitting) == 0 {
		return late
	}
	r := w.chooser.solve(&w.cfg.Utility, free, fitting)
	var order []int
	left := free
	for k := range fitting {
		if r.Choice[k] >= 0 {
			order = append(order, k)
			left = left.Minus(fitting[k].Facts.Needs)
		}
	}
	for k, x := range fitting { // what is worth next to nothing beside the rest is lost in the sum
		if r.Choice[k] < 0 && left.Fits(x.Facts.Needs) {
			r.Choice[k], order, left = 0, append(order, k), left.Minus(x.Facts.Needs)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(w.chooser.worth[b], w.chooser.worth[a]) })
	for _, k := range order {
		all = append(all, Decision{Gathered: *fitting[k]})
	}
	all = append(all, late...)
	for k, x := range fitting {
		if r.Choice[k] >= 0 {
			continue
		}
		all = append(all, Decision{*x,
			pricesFor(&x.Facts, w.chooser.worth[k], free, left, r.Prices, len(fitting))})
	}
	return all
}

// solve fills what is free with the most utility. Capacities are cores, GiB of memory and each counted resource.
func (c *chooser) solve(f *utility.Function, free grid.Resources, offers []*Gathered) *knapsack.Result {
	c.cycle.Begin(f)
	for _, x := range offers {
		c.cycle.See(x.Facts.utility())
	}
	c.worth = c.worth[:0]
	capacity := []float64{free.CPU.Cores(), gib(free.Memory)}
	var kinds []string
	for kind, units := range free.Counts.All() {
		kinds, capacity = append(kinds, kind), append(capacity, float64(units))
	}
	c.problem.Reset(capacity...)
	for _, x := range offers {
		u := c.cycle.Of(x.Facts.utility())
		c.worth = append(c.worth, u)
		demands := []knapsack.Demand{{Of: 0, Amount: x.Facts.Needs.CPU.Cores()}, {Of: 1, Amount: gib(x.Facts.Needs.Memory)}}
		for k, kind := range kinds {
			demands = append(demands, knapsack.Demand{Of: 2 + k, Amount: float64(x.Facts.Needs.Counts.Of(kind))})
		}
		c.problem.Item()
		c.problem.Option(max(u, leastUtility), demands...)
	}
	return c.solver.Solve(&c.problem, solve)
}

// leastUtility is that of an offer which a utility function finds worth nothing: it is taken where nothing else is.
const leastUtility = 1e-9

func gib(b grid.Bytes) float64 { return float64(b) / float64(grid.GiB) }

// pricesFor are the shadow prices for an offer that is worth so much utility, in its own credits.
func pricesFor(f *Facts, worth float64, free, left grid.Resources, prices []float64,
	offers int) *grid.Prices {
	unit := f.credits() / max(worth, leastUtility)
	p := &grid.Prices{CPU: bounded(prices[0] * unit), Memory: bounded(prices[1] * unit), Left: left,
		Worth: bounded(f.credits()), Offers: offers}
	k := 2
	for kind := range free.Counts.All() {
		if x := bounded(prices[k] * unit); x > 0 {
			p.Counted = append(p.Counted, grid.UnitPrice{Kind: kind, Price: x})
		}
		k++
	}
	return p
}

// bounded makes a price one that may be told.
func bounded(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return min(x, grid.MaxPrice)
}
