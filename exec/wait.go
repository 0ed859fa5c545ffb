package exec

import (
	"slices"

	"skep/grid"
)

// leftover is the least share of its expected time that a running task is taken to need still: one that
// has overrun is likely to run on.
const leftover = 0.25

// Wait returns the expected time in seconds until a task of that need, accepted now, would start:
//
//	0                                      if it fits and nobody waits
//	1 / Σ_running 1/rest  +  Σ_waiting cpu·mean / capacity     otherwise
//
// rest is what is likely left of a running task. The first term is the mean time to the first of several
// exponential ends; with one slot it is rest itself, so that the sum is the expected completion time of
// [1] less the task's own. Waiting work counts by the share of the capacity that it takes.
func (e *Exec) Wait(now grid.Time, need grid.Resources, mean Mean) float64 {
	if len(e.queue) == 0 && e.free.Fits(need) {
		return 0
	}
	first := 0.0
	if !e.free.Fits(need) {
		ends := 0.0
		for _, w := range e.running {
			m := mean(w.Class)
			ends += 1 / max(m-now.Sub(w.Started).Seconds(), leftover*m, 1e-6)
		}
		if ends > 0 {
			first = 1 / ends
		}
	}
	work := 0.0
	for _, c := range e.classes {
		if c.queued > 0 {
			work += float64(c.queued) * mean(c.name)
		}
	}
	return first + work/float64(max(e.capacity.CPU, 1))
}

// class returns the counter of a class, making one if need be.
func (e *Exec) class(name string) *class {
	for _, c := range e.classes {
		if c.name == name {
			return c
		}
	}
	c := &class{name: name}
	e.classes = append(e.classes, c)
	return c
}

// drop forgets the counter of a class that no work here belongs to, so that the list stays short.
func (e *Exec) drop(c *class) {
	if c.queued > 0 || len(e.classes) <= keepClasses {
		return
	}
	for _, w := range e.work {
		if w.class == c {
			return
		}
	}
	e.classes = slices.DeleteFunc(e.classes, func(d *class) bool { return d == c })
}

// keepClasses is how many idle counters are kept rather than made anew.
const keepClasses = 64
