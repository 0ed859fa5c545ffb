package balance

import (
	"cmp"
	"math"
	"slices"
)

// Demand is what a class asks of a grid.
type Demand struct {
	Class   string
	Rate    float64 // tasks per second
	Service float64 // seconds that a task takes on average
}

// load is the number of nodes that a class keeps busy.
func (d *Demand) load() float64 {
	if x := d.Rate * d.Service; x > 0 && !math.IsInf(x, 1) {
		return x
	}
	return 0
}

// Allotment is the nodes that are kept for a class, or for several neighbouring ones together.
type Allotment struct {
	Classes []string
	Nodes   int
}

// Allot says how many of n equal nodes are kept for each class: those numbers n_k ≥ 1 with the least
//
//	max_k load_k / n_k,
//
// by which the class that is first to have too few nodes has them for the highest rate. [4, section 3.5] keeps nodes
// in proportion to the load; all its numbers come out. Where a node serves two classes equally it goes to that
// which is further below its proportional share, n·load_k/Σ load. With fewer nodes than classes neighbours by
// service time are put together, those first whose service times differ by the least factor. The answer is in the
// order of service times; none if there is no class or no node.
func Allot(n int, classes []Demand) []Allotment {
	if n < 1 || len(classes) == 0 {
		return nil
	}
	groups := merged(n, classes)
	out := make([]Allotment, len(groups))
	total := 0.0
	for k, g := range groups {
		for _, d := range g {
			out[k].Classes = append(out[k].Classes, d.Class)
		}
		out[k].Nodes = 1
		total += sum(g)
	}
	for range n - len(groups) {
		to := 0
		for k := range groups {
			a, b := sum(groups[k])/float64(out[k].Nodes), sum(groups[to])/float64(out[to].Nodes)
			below := func(k int) float64 { return float64(n)*sum(groups[k])/total - float64(out[k].Nodes) }
			if a > b || a == b && total > 0 && below(k) > below(to) {
				to = k
			}
		}
		out[to].Nodes++
	}
	return out
}

// sum is the load of classes together.
func sum(g []Demand) (x float64) {
	for k := range g {
		x += g[k].load()
	}
	return x
}

// merged puts the classes into at most n groups, by service time.
func merged(n int, classes []Demand) [][]Demand {
	order := slices.Clone(classes)
	slices.SortStableFunc(order, func(a, b Demand) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Class, b.Class))
	})
	var groups [][]Demand
	for k := range order {
		groups = append(groups, order[k:k+1:k+1])
	}
	for len(groups) > n {
		at, least := 0, math.Inf(1)
		for k := range len(groups) - 1 {
			if f := mean(groups[k+1]) / mean(groups[k]); f < least {
				at, least = k, f
			}
		}
		groups[at] = append(slices.Clone(groups[at]), groups[at+1]...)
		groups = slices.Delete(groups, at+1, at+2)
	}
	return groups
}

// mean is the service time of the tasks of a group as they come.
func mean(g []Demand) float64 {
	rate := 0.0
	for k := range g {
		rate += max(g[k].Rate, 0)
	}
	if rate > 0 {
		return sum(g) / rate
	}
	return g[0].Service
}
