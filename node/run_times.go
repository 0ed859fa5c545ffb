package node

import (
	"math"

	"skep/grid"
)

// What a run counts in the decayed statistics of its class.
const (
	meanWeight   = 0.1  // least weight of a run in the decayed mean run time
	scvWeight    = 0.02 // the same for their spread, which changes less and takes more runs to tell
	maxDeviation = 16.0 // squared deviation, in squared means, that one run counts with at most
)

// recordRun teaches μ by a run that ended by itself with success; nothing else does, or a node that fails fast
// would look fast. It reports whether the mean is worth writing to disk.
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

// recordMove teaches the cost of moving a task: what passed between the choice and the result beyond waiting
// and running at the worker, seconds.
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

// runTime is the expected run time of a task of the class on a slot of this node, seconds, as others use its cores now, and
// the squared coefficient of variation.
func (r *rates) runTime(name string) (mean, scv float64) {
	mean, scv = r.unshared(name)
	return mean / r.speed(grid.CPU), scv
}

// unshared is the same had nobody else used the cores: measured, or else the usual one scaled by this node's speed; the squared
// coefficient of variation is from 0 to 1, as far as runs have shown one.
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
