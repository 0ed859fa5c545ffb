package net

import (
	"math"

	"skep/sim"
)

// maxRegretPairs bounds the tasks times nodes of a run whose regret is measured: each waiting task is compared with
// each idle node, at each start and end.
const maxRegretPairs = 1_000_000

// measuresRegret reports whether a run is small enough.
func (s *Scenario) measuresRegret(work []sim.Submission) bool {
	tasks := 0
	for i := range work {
		tasks += int(work[i].Spec.Count)
	}
	return tasks*s.nodes() <= maxRegretPairs
}

// regretOf returns the core-seconds after the warm-up in which nodes were idle where a waiting task would have ended
// sooner than it did, over those in which attempts ran; NaN if it is not measured.
func regretOf(w *sim.World, work []sim.Submission, s *Scenario) float64 {
	if !s.measuresRegret(work) {
		return math.NaN()
	}
	regret, busy := w.Regret(s.Warmup)
	return regret / busy
}
