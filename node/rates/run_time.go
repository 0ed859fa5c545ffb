package rates

import (
	"math"

	"skep/grid"
)

// Weight of one run in the decayed statistics of its class.
const (
	meanWeight   = 0.1  // least weight of a run in the mean run time
	scvWeight    = 0.02 // least weight in the squared coefficient of variation, which changes less and needs more runs
	maxDeviation = 16.0 // bound of one run's squared deviation, in squared means
)

// Ran updates μ by a run here that ended with success, in seconds at full speed; failures do not count, or a node that
// fails fast would look fast. When the mean has changed enough the class's record is saved.
func (e *Estimator) Ran(now grid.Time, level string, seconds float64, fx *grid.Effects) {
	class, finer := grid.ClassOfLevel(level)
	e.ran(now, class, seconds, fx)
	if finer && !e.given {
		e.ran(now, level, seconds, fx)
	}
}

func (e *Estimator) ran(now grid.Time, name string, seconds float64, fx *grid.Effects) {
	c := e.class(name)
	c.used = max(c.used, now)
	seconds = max(seconds, 1e-6)
	if mean := e.meanHere(name, c); mean > 0 {
		d := seconds/mean - 1
		c.runSCVCount = min(c.runSCVCount+1, 1/scvWeight)
		c.runSCV += (min(d*d, maxDeviation) - c.runSCV) / c.runSCVCount
	}
	if e.given {
		return
	}
	c.runs = min(c.runs+1, 1/meanWeight)
	c.seconds += (seconds - c.seconds) / c.runs
	e.changed = true
	if _, finer := grid.ClassOfLevel(name); finer && c.runs < minLevelResults {
		return
	}
	if math.Abs(c.seconds-c.saved) > publishThreshold*c.saved {
		e.save(c, fx)
	}
}

// RunTime is the expected run time of a task of a level of a class on one slot of this node at full speed, seconds:
// measured, or else the typical one scaled by this node's speed; and its squared coefficient of variation, at most 1, 0
// until runs have shown one.
func (e *Estimator) RunTime(level string, stated StatedRates) (mean, scv float64) {
	class, finer := grid.ClassOfLevel(level)
	if finer && e.Class(level).Runs() >= minLevelResults {
		s := e.estimate(level, runsOf)
		return s.mean, min(s.scv(), 1)
	}
	c := e.Class(class)
	if c != nil {
		scv = min(c.runSCV, 1)
	}
	if finer {
		if mu := e.LevelRate(level, stated); mu > 0 {
			return 1 / RateAtSpeed(mu, e.speed), scv
		}
	}
	if mean = e.meanHere(class, c); mean > 0 {
		return mean, scv
	}
	return 1 / e.Rate(class, e.speed, stated), scv
}

// meanHere returns the mean run time of a class on one slot here, given or measured, seconds; 0 = unknown. c may be
// nil.
func (e *Estimator) meanHere(class string, c *Class) float64 {
	if mu := e.givenRate(class); mu > 0 {
		return 1 / mu
	}
	if c != nil && c.runs > 0 {
		return c.seconds
	}
	return 0
}

// Runs is the number of successful runs here that the mean run time rests on, at most 1/meanWeight.
func (c *Class) Runs() int32 {
	if c == nil {
		return 0
	}
	return int32(c.runs)
}

// mu returns the measured execution rate of one slot here, tasks per second; 0 = not measured.
func (c *Class) mu() float64 {
	if c.runs == 0 {
		return 0
	}
	return min(1/c.seconds, grid.MaxRate)
}
