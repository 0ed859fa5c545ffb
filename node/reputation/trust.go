package reputation

import "skep/grid"

// CompletionTime returns the completion time to expect of a node, in seconds: what it states, but not much less than
// its results took; before the first of them not less than floor. expected is the class's expected run time.
func (rec *Record) CompletionTime(now grid.Time, stated, expected, floor float64) float64 {
	if !rec.Delivered() {
		return max(stated, floor)
	}
	return max(stated, rec.overrun*expected/overrunTolerance/(1+now.Sub(rec.last).Seconds()/recordHalfLife))
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
