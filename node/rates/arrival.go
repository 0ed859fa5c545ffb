package rates

import (
	"math"

	"skep/grid"
)

// Arrive counts k submissions of a level of a class at this node; 0 = a job that was submitted before, which the node
// resumes:
//
//	count(t) = count(s)·exp(−(t−s)/τ) + k
func (e *Estimator) Arrive(now grid.Time, level string, spec *grid.JobSpec, k int) {
	class, finer := grid.ClassOfLevel(level)
	e.arrive(now, class, spec, k)
	if finer && !e.given {
		e.arrive(now, level, spec, k)
	}
}

func (e *Estimator) arrive(now grid.Time, name string, spec *grid.JobSpec, k int) {
	c := e.class(name)
	if c.spec == nil {
		c.since = now
		e.changed = true
	}
	c.spec, c.foreign = spec, false
	c.count = c.count*e.decay(now, c.last) + float64(k)
	c.last, c.used = now, now
}

// ArriveForeign counts the arrival of a task whose class a worker named, which is no level of one. Such classes evict
// each other, never a measured class or level.
func (e *Estimator) ArriveForeign(now grid.Time, class string, spec *grid.JobSpec) {
	c := e.Class(class)
	foreign := c == nil || c.foreign
	if c == nil {
		k := 0
		for _, c := range e.classes {
			if c.foreign {
				k++
			}
		}
		if k >= maxForeignClasses {
			e.evict(func(c *Class) bool { return c.foreign })
		}
	}
	e.arrive(now, class, spec, 1)
	e.Class(class).foreign = foreign
}

func (e *Estimator) decay(now, last grid.Time) float64 {
	return math.Exp(-now.Sub(last).Seconds() / e.memory)
}

// alpha is the arrival rate, tasks per second. The count of a process that began T ago covers the share 1−exp(−T/τ) of
// its memory; the first seconds are smoothed over at least τ/60.
func (e *Estimator) alpha(now grid.Time, c *Class) float64 {
	if c.count == 0 {
		return 0
	}
	tau := e.memory
	seen := 1 - math.Exp(-max(now.Sub(c.since).Seconds(), tau/60)/tau)
	return min(c.count*e.decay(now, c.last)/(tau*seen), grid.MaxRate)
}
