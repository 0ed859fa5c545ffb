package node

import (
	"testing"
	"time"

	"skep/balance"
	"skep/grid"
)

// The estimate of arrivals does not depend on how much runs here: a node at which nothing is submitted
// but much of the class runs must not look busy with submissions.
func TestRunsDoNotHoldUpTheDecayOfArrivals(t *testing.T) {
	c := config(selfID)
	r := newRates(&c)
	s := spec(nil)
	now := grid.Time(1)
	r.arrive(now, s, "a", 1)
	for range 600 {
		now = now.Add(time.Second)
		r.ran(now, "a", 1)
	}
	if a := r.alpha(now, r.class("a")); a > 1e-4 {
		t.Errorf("one arrival 10 min ago, and a run each second since: %g arrivals per second, want next to none", a)
	}
}

// A policy that is told of nodes only when it is asked whom to poll must be asked although there is one node
// alone: local would not know which of them it is.
func TestLonelyNodeRunsUnderEveryPolicy(t *testing.T) {
	for _, name := range balance.Names() {
		r := newRig(t, func(c *Config) { c.Policy = name })
		r.submit(jobID(1), spec(nil))
		if len(r.fx.Starts) != 1 {
			t.Errorf("%s: %v", name, r.task(jobID(1)).Traces)
		}
	}
}
