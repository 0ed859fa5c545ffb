package exec

import (
	"slices"

	"skep/grid"
)

// leftover is the least share of its expected time that a running task is taken to need still.
const leftover = 0.25

// chance is how many means a run takes longer than its mean before that tells anything, where run times are
// exponential: one in fifty does.
const chance = 3

// ending is how long an attempt that was told to end is taken to need still, seconds: most go at once, who does not
// listen has a grace of a few.
const ending = 0.5

// Wait returns the expected time in seconds until a task of that need, accepted now, would start:
//
//	0                                      if it fits and nobody waits
//	1 / Σ_running 1/rest  +  Σ_waiting cpu·mean / capacity     otherwise
//
// rest is what is likely left of a running task of mean m and squared coefficient of variation c²; its mean
// where tasks count whole:
//
//	c²·m + (1−c²)·max(m − age, 0)
//
// which is exact where all take equally long, and where run times are exponential: then an age tells nothing. One
// that has overrun by more than chance explains is taken to need as much again. The first term of the wait is the mean
// time to the first of several exponential ends; with one slot it is rest itself, so that the sum is the expected completion
// time of [1] less the task's own. Waiting work counts by the share of the capacity that it takes.
func (e *Exec) Wait(now grid.Time, need grid.Resources, law Law) float64 {
	if len(e.queue) == 0 && e.free.Fits(need) {
		return 0
	}
	e.look(now)
	ran, first := e.Ahead(now, need, law)
	if e.whole {
		first += ran
	}
	work := 0.0
	for _, c := range e.classes {
		if c.queued > 0 {
			work += float64(c.queued) * c.mean(law)
		}
	}
	return first + work/float64(max(e.capacity.CPU, 1))
}

// Ahead returns of what runs, and has to end before a task of that need can start, the expected time in seconds
// that is behind it and that is left: the second is the first term of Wait, or both together are where tasks
// count whole. 0 and 0 where the task fits beside them.
func (e *Exec) Ahead(now grid.Time, need grid.Resources, law Law) (ran, rest float64) {
	if e.free.Fits(need) || len(e.running)+len(e.stopping) == 0 {
		return 0, 0
	}
	ends := float64(len(e.stopping)) / ending
	fresh := ends
	for _, w := range e.running {
		m, scv := law(w.Class)
		age := now.Sub(w.Started).Seconds()
		ends += 1 / max(scv*m+(1-scv)*max(m-age, 0), leftover*m, overrun(age, m, scv), 1e-6)
		fresh += 1 / max(m, 1e-6)
	}
	rest, whole := 1/ends, 1/fresh
	if e.whole {
		rest = min(rest, whole)
	}
	return max(whole-rest, 0), rest
}

// overrun is by how much a run is longer than its mean, less what chance explains, seconds.
func overrun(age, mean, scv float64) float64 { return age - mean - chance*scv*mean }

// Mean returns the expected run time of a task of a class here, seconds: what was measured, or the mean age of
// those that run now if that is more and not by chance. A class whose tasks have become longer is so seen before the
// first ends.
func (e *Exec) Mean(now grid.Time, name string, law Law) float64 {
	e.look(now)
	for _, c := range e.classes {
		if c.name == name {
			return c.mean(law)
		}
	}
	m, _ := law(name)
	return m
}

func (c *class) mean(law Law) float64 {
	m, scv := law(c.name)
	return m + max(overrun(c.age, m, scv), 0)
}

// Whole makes running tasks count in full, at the mean of their class and whatever their age, which is how [1]
// has it.
func (e *Exec) Whole(on bool) { e.whole = on }

// look brings the mean ages of what runs up to date.
func (e *Exec) look(now grid.Time) {
	for _, c := range e.classes {
		c.age, c.runs = 0, 0
	}
	if e.whole {
		return
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
	for _, list := range e.lists() {
		for _, w := range list {
			if w.class == c {
				return
			}
		}
	}
	e.classes = slices.DeleteFunc(e.classes, func(d *class) bool { return d == c })
}

// keepClasses is how many idle counters are kept rather than made anew.
const keepClasses = 64
