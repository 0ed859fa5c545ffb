package balance

import (
	"cmp"
	"math"
	"slices"

	"skep/grid"
	"skep/lpas"
)

// allocation is the LP of one decider, solved over its own view of the rates, and what is read off it:
// for each class the nodes that have a share of it. It keeps the problem as it was solved, so that one
// can tell how far the rates have moved since.
type allocation struct {
	resolve float64
	classes int32
	rest    int32 // the row of all others together; −1 if there is none
	ws      *lpas.Workspace
	form    form // which of the optima

	problem lpas.Problem
	basis   lpas.Basis
	lambda  float64
	solves  uint64

	row []int32 // of a class in the problem: its own, or that of the rest; −1
	own []int32 // classes that have a row, by row

	first  []int32   // by row: where its support begins
	node   []int32   // the supports, one after the other
	weight []float64 // delta·mu, tasks per second

	totals []float64 // arrival rates by class
}

// form is one of the readings of "the" optimum that lpas has.
type form func(*lpas.Problem, *lpas.Basis, *lpas.Workspace, *lpas.Solution)

func newAllocation(c *Config, f form) allocation {
	ws := c.Scratch
	if ws == nil {
		ws = new(lpas.Workspace)
	}
	return allocation{resolve: c.Resolve, classes: int32(min(c.Classes, MaxClasses)), ws: ws, form: f, rest: -1}
}

// refresh solves the LP if the rates have changed, and reports whether it did.
func (a *allocation) refresh(r *rates) bool {
	if !a.stale(r) {
		return false
	}
	a.solve(r)
	return true
}

// stale reports whether the LP has to be solved again: a node or class came or went, or a rate moved by
// more than the share that the configuration allows from what the LP was solved for. Arrival rates enter
// the LP only as sums over the nodes, and only those are compared.
func (a *allocation) stale(r *rates) bool {
	if r.shape || r.arrived && a.arrivalsMoved(r) {
		return true
	}
	m := len(a.problem.Cap)
	for _, j := range r.touched {
		if int(j) >= m {
			continue // it has never had rates, or shape would be set
		}
		if a.moved(r.slots[j], a.problem.Cap[j]) {
			return true
		}
		for k, i := range a.own {
			if a.moved(r.mu.at(i, j), a.problem.Mu[k*m+int(j)]) {
				return true
			}
		}
		if a.rest >= 0 && a.moved(a.mixed(r, j), a.problem.Mu[int(a.rest)*m+int(j)]) {
			return true
		}
	}
	r.settled()
	return false
}

func (a *allocation) arrivalsMoved(r *rates) bool {
	for k, i := range a.own {
		if a.moved(r.arrivals(i), a.problem.Alpha[k]) {
			return true
		}
	}
	var others, was float64
	for i := range r.names {
		if a.rowOf(int32(i)) == a.rest {
			others += r.arrivals(int32(i))
		}
	}
	if a.rest >= 0 {
		was = a.problem.Alpha[a.rest]
	}
	return a.moved(others, was)
}

// moved: from nothing or to nothing always counts.
func (a *allocation) moved(x, was float64) bool {
	return (x == 0) != (was == 0) || max(x-was, was-x) > a.resolve*was
}

// rowOf returns a class's row; the rest's, or −1 without one, where it has none of its own.
func (a *allocation) rowOf(i int32) int32 {
	if int(i) < len(a.row) && a.row[i] >= 0 {
		return a.row[i]
	}
	return a.rest
}

// solve solves the LP for the rates as they are.
func (a *allocation) solve(r *rates) {
	r.settled()
	a.choose(r)
	n, m := len(a.own), len(r.ids)
	if a.rest >= 0 {
		n++
	}
	p := &a.problem
	p.Alpha, p.Cap, p.Mu = resized(p.Alpha, n), resized(p.Cap, m), resized(p.Mu, n*m)
	copy(p.Cap, r.slots)
	for k, i := range a.own {
		p.Alpha[k] = a.totals[i]
		copy(p.Mu[k*m:][:m], r.mu.row(i, m))
	}
	if a.rest >= 0 {
		p.Alpha[a.rest] = 0
		for i, total := range a.totals {
			if a.rowOf(int32(i)) == a.rest {
				p.Alpha[a.rest] += total
			}
		}
		for j := range m {
			p.Mu[int(a.rest)*m+j] = a.mixed(r, int32(j))
		}
	}
	a.form(p, &a.basis, a.ws, &a.ws.Last)
	a.solves++
	a.lambda = a.ws.Last.Lambda
	if a.ws.Last.Status == lpas.NoDemand {
		a.lambda = 0
	}
	a.read(n, m)
}

// choose decides which classes have a row of their own: all that arrive, or the busiest of them.
func (a *allocation) choose(r *rates) {
	a.totals, a.row, a.own = a.totals[:0], a.row[:0], a.own[:0]
	others := false
	for i, name := range r.names {
		total := 0.0
		if name != "" {
			total = r.arrivals(int32(i))
		}
		a.totals, a.row = append(a.totals, total), append(a.row, -1)
		switch {
		case total == 0:
		case a.classes > 0 && name == grid.OtherClass:
			others = true
		default:
			a.own = append(a.own, int32(i))
		}
	}
	if a.classes > 0 && len(a.own) > int(a.classes) {
		slices.SortFunc(a.own, func(x, y int32) int {
			return cmp.Or(cmp.Compare(a.totals[y], a.totals[x]), cmp.Compare(r.names[x], r.names[y]))
		})
		a.own, others = a.own[:a.classes], true
		slices.Sort(a.own) // in the order of the last time, as far as they are the same: the basis holds
	}
	for k, i := range a.own {
		a.row[i] = int32(k)
	}
	a.rest = -1
	if others {
		a.rest = int32(len(a.own))
	}
}

// mixed is the execution rate of a node for the classes without a row of their own, as they come:
//
//	Σ_i alpha_i / Σ_i (alpha_i/mu_ij)   over those that it can run
func (a *allocation) mixed(r *rates, j int32) float64 {
	var tasks, time float64
	for i, total := range a.totals {
		if total > 0 && a.rowOf(int32(i)) == a.rest {
			if mu := r.mu.at(int32(i), j); mu > 0 {
				tasks += total
				time += total / mu
			}
		}
	}
	if tasks == 0 {
		return 0
	}
	return clean(tasks / time)
}

// read sorts the shares by class.
func (a *allocation) read(n, m int) {
	a.first = resized(a.first, n+1)
	clear(a.first)
	for _, s := range a.ws.Last.Delta {
		a.first[s.Class+1]++
	}
	for k := range n {
		a.first[k+1] += a.first[k]
	}
	a.node, a.weight = resized(a.node, len(a.ws.Last.Delta)), resized(a.weight, len(a.ws.Last.Delta))
	for x := len(a.ws.Last.Delta) - 1; x >= 0; x-- {
		s := &a.ws.Last.Delta[x]
		a.first[s.Class+1]--
		at := a.first[s.Class+1]
		a.node[at] = s.Machine
		a.weight[at] = s.Part * a.problem.Mu[int(s.Class)*m+int(s.Machine)]
	}
	// Each end has moved down to its own beginning, one place too far up in the list.
	copy(a.first, a.first[1:])
	a.first[n] = int32(len(a.ws.Last.Delta))
}

// support returns the nodes that have a share of a class, with the tasks per second that it stands for,
// and whether the class has a row of its own, so that all of them can run it.
func (a *allocation) support(r *rates, class string) (nodes []int32, weights []float64, own bool) {
	k := a.rest
	if i, ok := r.classOf(class); ok {
		k = a.rowOf(i)
	}
	if k < 0 {
		return nil, nil, false
	}
	from, to := a.first[k], a.first[k+1]
	return a.node[from:to], a.weight[from:to], k != a.rest
}

// factor is the LP's optimum, 0 where it has none that is a number.
func (a *allocation) factor() float64 {
	if math.IsInf(a.lambda, 0) || math.IsNaN(a.lambda) {
		return 0
	}
	return a.lambda
}
