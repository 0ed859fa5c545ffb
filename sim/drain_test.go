package sim

import (
	"testing"
	"time"

	"skep/grid"
)

// rollingRestart drains, stops and starts all nodes of a lab, one after the other.
func rollingRestart(bound float64) Config {
	c := lab()
	work(&c, 5*time.Second, 10*time.Millisecond, 200, []int{0, 1, 2, 3, 4}, spec("a", 1, grid.CPU))
	for i := range c.Nodes {
		at := time.Duration(8+6*i) * time.Second
		c.Faults = append(c.Faults, Fault{At: at, Kind: Drain, Nodes: []int{i}, Factor: bound},
			Fault{At: at + grid.Seconds(bound) + 2*time.Second, Kind: Restart, Nodes: []int{i}})
	}
	return c
}

// countRestarts counts starts of tasks beyond the first.
func countRestarts(w *World, c *Config) (n int) {
	for k := range c.Work {
		n += max(w.Outcome(k, 0).Starts-1, 0)
	}
	return n
}

// All nodes are restarted one after the other, each with enough time for running tasks: nothing is lost and no
// at-most-once task is started twice.
func TestRollingRestart(t *testing.T) {
	c := rollingRestart(3)
	c.Machine.Size = nil
	c.Machine.Rate = func(string, int) float64 { return 0.5 } // two seconds each
	for i := range c.Work {
		once := *c.Work[i].Spec
		once.Retries = 0
		c.Work[i].Spec = &once
	}
	play(t, c, func(t *testing.T, w *World, r Report) {
		if twice := countRestarts(w, &c); r.Failed != 0 || twice != 0 {
			t.Errorf("%d failed, %d were begun twice: want 0 and 0", r.Failed, twice)
		}
	})
}

// strikes is on how many nodes a task may be lost before it counts as one that fails everywhere.
const strikes = 3

// With a drain bound that some tasks exceed, only those run again. One that exceeds it on three nodes in turn, as a few
// in a thousand do, fails, and says so.
func TestRollingRestartReRunsWhatExceedsTheBound(t *testing.T) {
	c := rollingRestart(1)
	again := 0
	play(t, c, func(t *testing.T, w *World, r Report) {
		twice := countRestarts(w, &c)
		again += twice
		failed := 0
		for k := range c.Work {
			if o := w.Outcome(k, 0); (o.Result == nil || o.Result.Exit != 0) && o.Starts < strikes {
				failed++
			}
		}
		if most := 2 * c.Nodes; failed != 0 || twice > most {
			t.Errorf("%d failed, %d ran again: want 0, and at most the %d that two cores of each node can hold", failed, twice,
				most)
		}
	})
	if again == 0 {
		t.Error("no task exceeded the bound in any world: the scenario tests nothing")
	}
}
