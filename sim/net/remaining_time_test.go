package net

import (
	"testing"

	"skep/sim"
)

// The expected remaining time of a running task helps where tasks of a class take equally long, and does no harm where
// their times are exponential and an age is not informative: the node measures which it is. MCT on System 4.A depends
// on it most.
func TestWhatIsLeftHelpsOrDoesNoHarm(t *testing.T) {
	sys := system4A(t, 1)
	for _, c := range []struct {
		name string
		size sim.Distribution
		most float64 // of the response time where running tasks count whole
	}{{"deterministic", sim.Deterministic(), 0.85}, {"exponential", sim.Exponential(), 1.02}} {
		var w [2]float64
		for i, rest := range []bool{false, true} {
			s := asScenario(sys, 70, 20, 4)
			for k := range s.Classes {
				s.Classes[k].Size = c.size
			}
			s.Node.Policy, s.Node.Balance.Rest = "mct", rest
			w[i] = run(t, s).Completion.Mean / unit.Seconds()
		}
		t.Logf("%s: W %.4f where running tasks count whole, %.4f by what is left", c.name, w[0], w[1])
		if w[1] > c.most*w[0] {
			t.Errorf("%s: W %.4f by what is left, at most %g times %.4f wanted", c.name, w[1], c.most, w[0])
		}
	}
}
