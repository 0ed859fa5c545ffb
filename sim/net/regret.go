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

// measureRegret measures the core-seconds after the warm-up in which nodes were idle where a waiting task would have
// ended sooner than it did, and those in which attempts ran.
func (m *sample) measureRegret(w *sim.World, s *Scenario) {
	m.regret, m.regretOver = math.NaN(), math.NaN()
	if s.measuresRegret(m.work) {
		m.regret, m.regretOver = w.Regret(s.Warmup)
	}
}
