package reallocation

import (
	"math"
	"slices"

	"skep/balance/knapsack"
	"skep/balance/utility"
)

// tick is what happens at the ticks of strategies that have them.
func (e *engine) tick() {
	e.suspend()
	if len(e.unended) == 0 {
		return
	}
	if e.strategy.Name == "gang" {
		e.rotate()
	} else {
		e.reallocate()
	}
}

// between is what happens at any event.
func (e *engine) between() {
	switch {
	case e.strategy.Name == "fcfs", e.strategy.Name == "data_fcfs":
		e.fcfs()
	case e.strategy.Name == "easy", e.strategy.Backfill && e.system.Backfill == "easy":
		e.easy()
	case e.strategy.Name == "min_min":
		e.minMin()
	case e.strategy.Backfill:
		e.fill()
	}
}

// know writes down what is known of a task under an option.
func (e *engine) know(t *task, o *option) *utility.Facts {
	e.facts = utility.Facts{Value: o.value, Waited: e.now - t.submit, Length: t.length,
		Remaining: e.computes(t, o)}
	if d := &e.system.Data; d.on() {
		e.facts.Transfer = e.storage.takes(o.cluster, t.input.size)
		if d.Sticky {
			e.facts.Transfer = e.storage.takes(o.cluster, t.input.to(o.cluster))
		}
		if d.Remaining == "whole" {
			e.facts.Remaining = e.lasts(t, o)
		}
	}
	return &e.facts
}

// reallocate chooses options by utility and knapsack [1, section 4.3].
func (e *engine) reallocate() {
	e.cycle.Begin(&e.function)
	for _, k := range e.unended {
		t := &e.tasks[k]
		for x := range t.options {
			e.cycle.See(e.know(t, &t.options[x]))
		}
	}
	e.capacity = e.capacity[:0]
	for _, c := range e.free {
		e.capacity = append(e.capacity, float64(c))
	}
	e.capacity = append(e.capacity, e.storage.space...)
	e.problem.Reset(e.capacity...)
	for _, k := range e.unended {
		t := &e.tasks[k]
		e.problem.Item()
		for x := range t.options {
			o := &t.options[x]
			e.demand[0] = knapsack.Demand{Of: o.cluster, Amount: float64(o.procs)}
			demand := e.demand[:1]
			if e.system.Data.on() {
				e.demand[1] = knapsack.Demand{Of: len(e.free) + o.cluster, Amount: t.input.size}
				demand = e.demand[:]
			}
			e.problem.Option(e.cycle.Of(e.know(t, o)), demand...)
		}
	}
	c := knapsack.Config{Beta: e.system.Solver.Beta, Rounds: e.system.Solver.Rounds, Prices: e.prices}
	chosen := e.solver.Solve(&e.problem, c).Choice
	for x, k := range e.unended {
		if chosen[x] >= 0 {
			e.start(k, chosen[x])
		} else {
			e.tasks[k].input.at = nowhere
			e.waiting = append(e.waiting, k)
		}
	}
}

// rotate gives the processors to the tasks whose turn it is, in the order of arrival and first fit; those that have
// begun are behind the others at the next tick. [1] names this strategy and does not say how it works.
func (e *engine) rotate() {
	n := len(e.unended)
	first := e.turn % n
	for x := range n {
		k := e.unended[(first+x)%n]
		if o := e.fitting(&e.tasks[k]); o >= 0 {
			e.start(k, o)
			e.turn++
		} else {
			e.waiting = append(e.waiting, k)
		}
	}
	slices.Sort(e.waiting)
}

// fcfs starts tasks in the order of arrival, the head first.
func (e *engine) fcfs() {
	n := 0
	for _, k := range e.waiting {
		o := e.head(&e.tasks[k])
		if o < 0 {
			break
		}
		e.start(k, o)
		n++
	}
	e.waiting = e.waiting[n:]
}

// fill starts every task that has an option that fits, in the order of arrival.
func (e *engine) fill() {
	e.startSome(0, func(k int) int { return e.fitting(&e.tasks[k]) })
}

// startSome starts those from a place in the queue on for which pick has an option.
func (e *engine) startSome(from int, pick func(k int) int) {
	if e.idle == 0 {
		return
	}
	left := e.waiting[:from]
	for x := from; x < len(e.waiting); x++ {
		k := e.waiting[x]
		if e.idle == 0 {
			left = append(left, e.waiting[x:]...)
			break
		}
		if o := pick(k); o >= 0 {
			e.start(k, o)
		} else {
			left = append(left, k)
		}
	}
	e.waiting = left
}

// easy starts the head, or reserves for it the option that will be free soonest, and starts those behind it that do not
// delay it: elsewhere, for no longer, or on processors that it will leave.
func (e *engine) easy() {
	e.fcfs()
	if len(e.waiting) < 2 || e.idle == 0 {
		return
	}
	e.listEnds()
	at, on, extra := math.Inf(1), -1, 0
	head := &e.tasks[e.waiting[0]]
	for x := range head.options {
		o := &head.options[x]
		if when, left := e.soonest(o); when < at {
			at, on, extra = when, o.cluster, left
		}
	}
	e.startSome(1, func(k int) int {
		t := &e.tasks[k]
		if t.fewest > e.idle {
			return -1
		}
		for x := range t.options {
			o := &t.options[x]
			switch {
			case !e.fits(t, o):
			case o.cluster != on, e.now+e.lasts(t, o) <= at:
				return x
			case o.procs <= extra:
				extra -= o.procs
				return x
			}
		}
		return -1
	})
}

// minMin starts the task that can end soonest, again and again.
func (e *engine) minMin() {
	for e.idle > 0 {
		best, on, place := math.Inf(1), -1, -1
		for x, k := range e.waiting {
			t := &e.tasks[k]
			if t.fewest > e.idle {
				continue
			}
			for y := range t.options {
				if o := &t.options[y]; e.fits(t, o) {
					if l := e.lasts(t, o); l < best {
						best, on, place = l, y, x
					}
				}
			}
		}
		if place < 0 {
			return
		}
		e.start(e.waiting[place], on)
		e.waiting = slices.Delete(e.waiting, place, place+1)
	}
}
