package reputation

import "skep/grid"

// CompletionTime returns the completion time to expect of a node, in seconds: what it states, but not much less than
// its results took; before the first of them not less than floor. expected is the class's expected run time.
func (rec *Record) CompletionTime(now grid.Time, stated, expected, floor float64) float64 {
	if !rec.Delivered() {
		return max(stated, floor)
	}
	age := now.Sub(rec.last).Seconds()
	overrun := rec.overrun / (1 + age/recordHalfLife)
	if age > rec.doubt {
		overrun = min(overrun, 1)
	}
	return max(stated, overrun*expected/overrunTolerance)
}

// updateDoubt sets for how long an overrun counts in full: the time that the result took, which is what another trial
// costs, and twice as long each time that a trial has the same end, up to recordHalfLife. Afterwards the node is
// expected to need half the usual time at the least, as one that is on time.
func (rec *Record) updateDoubt(expected, took float64) {
	if took <= overrunLimit*expected {
		rec.doubt = 0
		return
	}
	rec.doubt = max(min(max(took, 2*rec.doubt), recordHalfLife), took)
}

// ExecutionRate returns the trusted execution rate of a slot. Until the node has delivered, its statement is bounded by
// maxBoast times the typical rate; after that by its results.
func (rec *Record) ExecutionRate(now grid.Time, mu, typical, expected float64) float64 {
	if rec.Delivered() {
		return 1 / rec.CompletionTime(now, 1/mu, expected, 0)
	}
	if typical > 0 {
		return min(mu, maxBoast*typical)
	}
	return mu
}

// Cores returns how many of a node's stated cores are trusted.
func (rec *Record) Cores(stated grid.MilliCPU) grid.MilliCPU {
	switch {
	case !rec.Delivered():
		return min(stated, probationCores*grid.CPU)
	case rec.unreliable():
		return min(stated, grid.CPU)
	}
	return stated
}

// ReturnRate returns the decayed share of attempts given to a node that it did not lose; 1 if it lost none. The prior
// damps the first losses.
func (rec *Record) ReturnRate(now grid.Time) float64 {
	t := rec.ends // a copy: reading the record must not change it
	t.decay(now)
	return (t.good + priorReturns) / (t.good + t.bad + priorReturns)
}
