package node

import (
	"math"

	"skep/grid"
)

// What a run counts in the decayed statistics of its class.
const (
	teach    = 0.1  // least weight of a run in the decayed mean run time
	vary     = 0.02 // the same for their spread, which changes less and takes more runs to tell
	mostVary = 16.0 // squared deviation, in squared means, that one run counts with at most
)

// ran teaches μ by a run that ended by itself with success; nothing else does, or a node that fails fast
// would look fast. It reports whether the mean is worth writing to disk.
func (r *rates) ran(now grid.Time, name string, seconds float64) bool {
	c := r.class(name)
	c.used = max(c.used, now)
	seconds = max(seconds, 1e-6)
	if c.runs > 0 || r.given(name) > 0 {
		mean, _ := r.alone(name)
		d := seconds/mean - 1
		c.spreads = min(c.spreads+1, 1/vary)
		c.spread += (min(d*d, mostVary) - c.spread) / c.spreads
	}
	if len(r.cfg.Given) > 0 {
		return false
	}
	c.runs = min(c.runs+1, 1/teach)
	c.seconds += (seconds - c.seconds) / c.runs
	r.stale = true
	return math.Abs(c.seconds-c.saved) > worthSaying*c.saved
}

// moved teaches the cost of moving a task: what passed between the choice and the result beyond waiting
// and running at the worker, seconds.
func (r *rates) moved(seconds float64) {
	if len(r.cfg.Given) > 0 {
		return
	}
	seconds = min(max(seconds, 0), maxOverhead, 2*r.overhead+firstOverhead)
	if r.overhead == 0 {
		r.overhead = seconds
		return
	}
	r.overhead += teach * (seconds - r.overhead)
}

// here is the expected run time of a task of the class on a slot of this node, seconds, as others use its cores now, and
// the squared coefficient of variation.
func (r *rates) here(name string) (mean, scv float64) {
	mean, scv = r.alone(name)
	return mean / r.speed(grid.CPU), scv
}

// alone is the same had nobody else used the cores: measured, or else the usual one scaled by this node's speed; the squared
// coefficient of variation is from 0 to 1, as far as runs have shown one.
func (r *rates) alone(name string) (mean, scv float64) {
	c := r.get(name)
	if c != nil {
		scv = min(c.spread, 1)
	}
	if mu := r.given(name); mu > 0 {
		return 1 / mu, scv
	}
	if c != nil && c.runs > 0 {
		return c.seconds, scv
	}
	return 1 / r.guess(name, r.cfg.Speed), scv
}
