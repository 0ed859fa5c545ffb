package node

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

// recordRun updates μ by a run that ended with success; failures do not count, or a node that fails fast would look
// fast. It reports whether the mean has changed enough to be saved.
func (r *rates) recordRun(now grid.Time, name string, seconds float64) bool {
	c := r.class(name)
	c.used = max(c.used, now)
	seconds = max(seconds, 1e-6)
	if c.runs > 0 || r.givenRate(name) > 0 {
		mean, _ := r.unshared(name)
		d := seconds/mean - 1
		c.runSCVCount = min(c.runSCVCount+1, 1/scvWeight)
		c.runSCV += (min(d*d, maxDeviation) - c.runSCV) / c.runSCVCount
	}
	if len(r.cfg.Given) > 0 {
		return false
	}
	c.runs = min(c.runs+1, 1/meanWeight)
	c.seconds += (seconds - c.seconds) / c.runs
	r.stale = true
	return math.Abs(c.seconds-c.saved) > publishThreshold*c.saved
}

// recordMove updates the cost of moving a task: the time between choice and result beyond waiting and running at the
// worker, seconds.
func (r *rates) recordMove(seconds float64) {
	if len(r.cfg.Given) > 0 {
		return
	}
	seconds = min(max(seconds, 0), maxOverhead, 2*r.overhead+firstOverhead)
	if r.overhead == 0 {
		r.overhead = seconds
		return
	}
	r.overhead += meanWeight * (seconds - r.overhead)
}

// runTime is the expected run time of a task of the class on one slot of this node, seconds, under the present use of
// its cores, and its squared coefficient of variation.
func (r *rates) runTime(name string) (mean, scv float64) {
	mean, scv = r.unshared(name)
	return mean / r.speed(grid.CPU), scv
}

// unshared is runTime at full speed: measured, or else the typical one scaled by this node's speed. The squared
// coefficient of variation is at most 1; 0 until runs have shown one.
func (r *rates) unshared(name string) (mean, scv float64) {
	c := r.get(name)
	if c != nil {
		scv = min(c.runSCV, 1)
	}
	if mu := r.givenRate(name); mu > 0 {
		return 1 / mu, scv
	}
	if c != nil && c.runs > 0 {
		return c.seconds, scv
	}
	return 1 / r.guess(name, r.cfg.Speed), scv
}
