package exec

import (
	"slices"

	"skep/grid"
)

// leftover is the least share of its expected time that a running task is taken to need still.
const leftover = 0.25

// Wait returns the expected time in seconds until a task of that need, accepted now, would start:
//
//	0                                      if it fits and nobody waits
//	1 / Σ_running 1/rest  +  Σ_waiting cpu·mean / capacity     otherwise
//
// rest is what is likely left of a running task: its mean less its age, and for one that has overrun as much
// again as it has overrun. The first term is the mean time to the first of several exponential ends; with one
// slot it is rest itself, so that the sum is the expected completion time of [1] less the task's own.
// Waiting work counts by the share of the capacity that it takes.
func (e *Exec) Wait(now grid.Time, need grid.Resources, mean Mean) float64 {
	if len(e.queue) == 0 && e.free.Fits(need) {
		return 0
	}
	e.look(now)
	first := 0.0
	if !e.free.Fits(need) {
		ends := 0.0
		for _, w := range e.running {
			m, age := mean(w.Class), now.Sub(w.Started).Seconds()
			ends += 1 / max(m-age, leftover*m, age-m, 1e-6)
		}
		if ends > 0 {
			first = 1 / ends
		}
	}
	work := 0.0
	for _, c := range e.classes {
		if c.queued > 0 {
			work += float64(c.queued) * max(mean(c.name), c.age)
		}
	}
	return first + work/float64(max(e.capacity.CPU, 1))
}

// Mean returns the expected run time of a task of a class here, seconds: what was measured, or the mean age of
// those that run now if that is more. A class whose tasks have become longer is so seen before the first ends.
func (e *Exec) Mean(now grid.Time, name string, mean Mean) float64 {
	e.look(now)
	for _, c := range e.classes {
		if c.name == name {
			return max(mean(name), c.age)
		}
	}
	return mean(name)
}

// look brings the mean ages of what runs up to date.
func (e *Exec) look(now grid.Time) {
	for _, c := range e.classes {
		c.age, c.runs = 0, 0
	}
	for _, w := range e.running {
		w.class.runs++
		w.class.age += (now.Sub(w.Started).Seconds() - w.class.age) / float64(w.class.runs)
	}
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
