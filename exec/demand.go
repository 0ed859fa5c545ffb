package exec

import "skep/grid"

// kind is a counted resource of the node.
type kind struct {
	name  string
	total int64
}

// kindsOf returns the kinds of a capacity; nil if there are none.
func kindsOf(c grid.Counts) (all []kind) {
	for name, n := range c.All() {
		all = append(all, kind{name, n})
	}
	return all
}

// demand is the queued work of a class that needs counted resources.
type demand struct {
	cpu   int64 // MilliCPU
	units grid.Counts
}

// queue counts work that comes into the queue, or leaves it with sign −1.
func (c *class) queue(w *Work, sign int64) {
	need := &w.Spec.Needs.Resources
	if need.Counts == "" {
		if c.queued == 0 || int64(need.CPU) < c.least {
			c.least = int64(need.CPU)
		}
		c.queued += sign * int64(need.CPU)
		return
	}
	if c.holds == nil {
		c.holds = new(demand)
	}
	c.holds.cpu += sign * int64(need.CPU)
	all := grid.Resources{Counts: c.holds.units}
	if sign > 0 {
		all = all.Plus(grid.Resources{Counts: need.Counts})
	} else {
		all = all.Minus(grid.Resources{Counts: need.Counts})
	}
	c.holds.units = all.Counts
}

// cpu is the MilliCPU of the queued work of the class.
func (c *class) cpu() int64 {
	if c.holds == nil {
		return c.queued
	}
	return c.queued + c.holds.cpu
}

// idle reports whether nothing of the class is queued.
func (c *class) idle() bool { return c.queued == 0 && (c.holds == nil || c.holds.cpu == 0) }

// backlog is queued work that is ahead of other work.
type backlog struct {
	plain float64                // MilliCPU·s of what needs no counted resources
	holds float64                // MilliCPU·s of the rest
	units [grid.MaxKinds]float64 // unit·s of the rest, by kind of the node
}

// addPlain adds work of so many MilliCPU and a mean in seconds.
func (b *backlog) addPlain(cpu int64, mean float64) { b.plain += float64(cpu) * mean }

// addHolds adds work that needs counted resources.
func (b *backlog) addHolds(e *Exec, cpu int64, units grid.Counts, mean float64) {
	b.holds += float64(cpu) * mean
	for i := range e.kinds {
		b.units[i] += float64(units.Of(e.kinds[i].name)) * mean
	}
}

// cores is the time in seconds until the cores have done the work of a backlog with P core-seconds of what needs none
// of the counted resources and H of the rest. The rest takes as long as its scarcest kind, T, and H/T cores
// meanwhile, so that the other work is done at the rate of the C − H/T cores that it leaves:
//
//	min((P + H)/C, P/(C − H/T))
func (b *backlog) cores(e *Exec) float64 {
	c := float64(max(e.capacity.CPU, 1))
	if b.holds <= 0 {
		return b.plain / c
	}
	all, t := (b.plain+b.holds)/c, 0.0
	for i := range e.kinds {
		t = max(t, b.units[i]/float64(e.kinds[i].total))
	}
	if left := c - b.holds/max(t, 1e-9); left > 0 {
		return min(all, b.plain/left)
	}
	return all
}

// wait is the time in seconds that the work takes which is ahead of a task with that need.
func (b *backlog) wait(e *Exec, need grid.Counts) float64 {
	t := b.cores(e)
	if need == "" {
		return t
	}
	for i := range e.kinds {
		if need.Of(e.kinds[i].name) > 0 {
			t = max(t, b.units[i]/float64(e.kinds[i].total))
		}
	}
	return t
}

// aheadOf is Ahead for the counted resources that a task lacks: the tasks that run and hold units of a kind must end
// until there are enough. With n of them that end at a mean rate r each, and hold h units on average, the k-th end of
// which k·h ≥ the units that are lacking comes after
//
//	Σ_{i<k} 1/((n − i)·r)
func (e *Exec) aheadOf(now grid.Time, need grid.Counts, law Law) (ran, rest float64) {
	for i := range e.kinds {
		name := e.kinds[i].name
		want := need.Of(name)
		lacking := want - e.free.Counts.Of(name)
		if want == 0 || lacking <= 0 {
			continue
		}
		var ends, fresh float64
		var n, held int64
		for _, h := range e.stopping {
			if u := h.need.Counts.Of(name); u > 0 {
				n, held, ends, fresh = n+1, held+u, ends+1/stoppingTime, fresh+1/stoppingTime
			}
		}
		for _, w := range e.running {
			if u := w.Spec.Needs.Counts.Of(name); u > 0 {
				m, left := e.remaining(now, w, law)
				n, held, ends, fresh = n+1, held+u, ends+1/left, fresh+1/max(m, 1e-6)
			}
		}
		if n == 0 {
			continue
		}
		k := min((lacking*n+held-1)/max(held, 1), n)
		left, whole := nthEnd(k, n, ends), nthEnd(k, n, fresh)
		if e.whole {
			left = min(left, whole)
		}
		if left > rest {
			ran, rest = max(whole-left, 0), left
		}
	}
	return ran, rest
}

// nthEnd is the mean time until the k-th of n ends whose rates sum up to all.
func nthEnd(k, n int64, all float64) (t float64) {
	for i := range k {
		t += float64(n) / (float64(n-i) * all)
	}
	return t
}

// KindWaits returns the expected time in seconds until a task would start that needs a core and one unit of a kind, for
// each kind, in whole seconds up to grid.MaxUnits.
func (e *Exec) KindWaits(now grid.Time, law Law) (c grid.Counts) {
	var all grid.Resources
	for i := range e.kinds {
		need := grid.Resources{CPU: grid.CPU, Counts: grid.CountsOf(e.kinds[i].name, 1)}
		t := min(e.Wait(now, need, law), grid.MaxUnits)
		all = all.Plus(grid.Resources{Counts: grid.CountsOf(e.kinds[i].name, int64(t+0.5))})
	}
	return all.Counts
}
