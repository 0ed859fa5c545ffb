package node

import (
	"testing"
	"time"

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

