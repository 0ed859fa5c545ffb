package queueing

import (
	"math"

	"skep/balance"
	"skep/grid"
)

// rates are the arrival and execution rates as they are, and what each machine says of itself.
type rates struct {
	n, m    int
	total   float64   // arrivals of all classes
	entries []float64 // arrival rates: by class and machine, or by class
	byPlace bool      // entries are by class and machine
	table   alias
	mu      []float64 // machine by machine: the execution rate of each class, undisturbed

	said    []float64 // availability as announced
	wrongA  []float64 // factors of what is said: arrival rates, machine by machine
	wrongM  []float64 // and execution rates
	columns []balance.Outcome
	version []uint32 // of the column; never 0

	// Of what is said: mean execution times, 0 and +Inf where it cannot.
	weight, alone []float64
}

func (r *rates) init(e *engine) {
	s := e.sys
	r.n, r.m = e.n, e.m
	r.byPlace = s.AlphaAt != nil
	size := e.n
	if r.byPlace {
		size *= e.m
	}
	r.entries = make([]float64, size)
	for k := range r.entries {
		r.entries[k] = e.baseAlpha(k)
	}
	r.total = r.table.fill(r.entries)
	r.mu = make([]float64, e.n*e.m)
	r.said, r.version = make([]float64, e.m), make([]uint32, e.m)
	r.wrongA, r.wrongM = make([]float64, e.n*(e.m+1)), make([]float64, e.n*(e.m+1))
	for k := range r.wrongA {
		r.wrongA[k], r.wrongM[k] = 1, 1
	}
	r.weight, r.alone = make([]float64, e.n*e.m), make([]float64, e.n*e.m)
	r.columns = make([]balance.Outcome, e.m)
	for j := range e.m {
		for i := range e.n {
			r.mu[j*e.n+i] = s.Mu[i][e.line[j]]
		}
		r.columns[j] = balance.Outcome{Kind: balance.Rates, Node: identity(j), Slots: 1, Rates: make([]grid.Rate, e.n)}
		r.err(e, j)
		r.announce(e, j)
	}
}

// baseAlpha is an entry as the system has it.
func (e *engine) baseAlpha(k int) float64 {
	if e.sys.AlphaAt == nil {
		return e.sys.Alpha[k]
	}
	return e.sys.AlphaAt[k/e.m][e.line[k%e.m]]
}

// where returns class and machine of an arrival; −1 where arrivals are given for the e.pulls system.
func (r *rates) where(u uint64) (class, machine int) {
	k := r.table.draw(u)
	if !r.byPlace {
		return k, -1
	}
	return k / r.m, k % r.m
}

// alphaAt is the arrival rate of a class at a machine.
func (r *rates) alphaAt(i, j int) float64 {
	if r.byPlace {
		return r.entries[i*r.m+j]
	}
	return r.entries[i] / float64(r.m)
}

// alpha is the arrival rate of a class over the e.pulls system.
func (r *rates) alpha(i int) float64 {
	if !r.byPlace {
		return r.entries[i]
	}
	sum := 0.0
	for _, a := range r.entries[i*r.m:][:r.m] {
		sum += a
	}
	return sum
}

// err draws anew by what factors the rates that machine j, or the mapper with e.m, says are wrong.
func (r *rates) err(e *engine, j int) {
	if w := e.sys.Inaccuracy.Rates; w > 0 {
		for i := range r.n {
			r.wrongA[j*r.n+i] = 1 + w*(2*e.errors.Float64()-1)
			r.wrongM[j*r.n+i] = 1 + w*(2*e.errors.Float64()-1)
		}
	}
}

// announce sets the availability that policies are told of machine j, as when it comes up.
func (r *rates) announce(e *engine, j int) {
	a := e.machines[j].speed
	if len(e.sys.Announced) > 0 {
		a = e.sys.Announced[e.line[j]]
	} else if c := e.chains[e.line[j]]; c != nil && e.sys.AvailabilityChanges == nil {
		a = c.average
	}
	if w := e.sys.Inaccuracy.Availability; w > 0 {
		a = min(max(a*(1+w*(2*e.errors.Float64()-1)), 0), 1)
	}
	r.said[j] = a
	r.tell(e, j)
}

// tell makes the column of machine j anew.
func (r *rates) tell(e *engine, j int) {
	c := &r.columns[j]
	c.Slots = 1
	if e.pulls && r.said[j] > 0 {
		c.Slots = r.said[j]
	}
	for i := range r.n {
		k := j*r.n + i
		mu := r.mu[k] * r.wrongM[k]
		if !e.pulls {
			mu *= r.said[j]
		} else if e.sys.Told == Corrected {
			mu *= useful(mu*r.said[j], 2*e.sys.Delay)
		}
		if r.weight[k], r.alone[k] = 0, math.Inf(1); mu > 0 {
			r.weight[k], r.alone[k] = 1/mu, 1/mu
		}
		if e.machines[j].down || r.said[j] == 0 {
			mu = 0
		}
		c.Rates[i] = grid.Rate{Class: e.sys.Classes[i], Mu: mu}
		if e.scattered {
			c.Rates[i].Alpha = r.alphaAt(i, j) * r.wrongA[k]
		}
	}
	if r.version[j]++; r.version[j] == 0 {
		r.version[j] = 1
	}
}

// demand is the column of a mapper: all arrivals, and nothing that it could run.
func (r *rates) demand(e *engine) balance.Outcome {
	o := balance.Outcome{Kind: balance.Rates, At: e.clock(), Node: mapper, Slots: 1}
	for i, class := range e.sys.Classes {
		o.Rates = append(o.Rates, grid.Rate{Class: class, Alpha: r.alpha(i) * r.wrongA[e.m*r.n+i]})
	}
	return o
}
