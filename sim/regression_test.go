package sim

import (
	"testing"
	"time"

	"skep/grid"
	"skep/node"
)

// Worlds in which the swarm once found a fault of the node, reduced to what matters.

func TestCancelledJobStartsNothingMore(t *testing.T) {
	c := lab()
	c.Nodes = 1
	c.Machine = Machine{Rate: func(string, int) float64 { return 0.01 }}
	c.Work = []Submission{{At: time.Second, Node: 0, Spec: spec("a", 12, grid.CPU), Cancel: 5 * time.Second}}
	play(t, c, func(t *testing.T, w *World, r Report) {
		starts := 0
		for k := range 12 {
			o := w.Outcome(0, k)
			starts += o.Starts
			if o.Result.Cause != grid.Cancelled {
				t.Errorf("task %d: %v", k, o.Result.Cause)
			}
		}
		if starts != 2 {
			t.Errorf("%d tasks were started on two cores, want the first two alone", starts)
		}
	})
}

func TestLateCopyOfAnOfferStartsNothing(t *testing.T) {
	c := lab()
	c.Network.Duplicate, c.Network.Reorder = 1, 0.7
	c.Machine = Machine{Rate: func(_ string, n int) float64 { return []float64{0, 1000, 1000, 1000, 1000}[n] }}
	s := spec("a", 1, grid.CPU)
	s.Retries = 0
	work(&c, 5*time.Second, 20*time.Millisecond, 100, []int{0}, s)
	play(t, c, func(t *testing.T, w *World, r Report) {
		for k := range 100 {
			if o := w.Outcome(k, 0); o.Starts != 1 || o.Result.Exit != 0 {
				t.Errorf("task %d: %d starts, exit %d", k, o.Starts, o.Result.Exit)
			}
		}
	})
}

func TestRefusedAfterItWasLost(t *testing.T) {
	c := lab()
	c.Nodes = 1
	c.Machine = Machine{Rate: func(string, int) float64 { return 0 }, Overhead: 2 * time.Second}
	c.Work = []Submission{{At: time.Second, Node: 0, Spec: spec("a", 1, grid.CPU)}}
	c.Faults = []Fault{{At: 2 * time.Second, Kind: Crash, Nodes: []int{0}},
		{At: 3 * time.Second, Kind: Restart, Nodes: []int{0}}}
	play(t, c, func(t *testing.T, w *World, r Report) {
		if o := w.Outcome(0, 0); o.Result.Exit != grid.ExitCannotExecute || o.Attempt.N != 2 {
			t.Errorf("exit %d after attempt %v, want %d after the second", o.Result.Exit, o.Attempt, grid.ExitCannotExecute)
		}
	})
}

func TestNetworkGrowsSlow(t *testing.T) {
	c := lab()
	c.Node = func(_ int, c *node.Config) { c.Policy = "mct" }
	c.Machine.Rate = func(_ string, n int) float64 { return []float64{0, 50, 50, 50, 50}[n] }
	c.Faults = []Fault{{At: 4 * time.Second, Kind: Slow, Nodes: []int{0, 1, 2, 3, 4}, Factor: 100}}
	work(&c, 10*time.Second, time.Second, 10, []int{0}, spec("a", 1, grid.CPU))
	play(t, c, func(t *testing.T, w *World, r Report) {
		if r.Failed != 0 {
			t.Errorf("%d tasks failed", r.Failed)
		}
	})
}

func TestLeavingNodeStartsNothing(t *testing.T) {
	c := lab()
	c.Nodes, c.Network.Mesh = 2, true
	c.Machine = Machine{Rate: func(_ string, n int) float64 { return []float64{0.02, 0.05}[n] }}
	own := spec("a", 6, grid.CPU)
	own.Retries = 0
	c.Node = func(_ int, c *node.Config) { c.Policy, c.Capacity.CPU = "mct", 2*grid.CPU }
	c.Work = []Submission{{At: 2 * time.Second, Node: 0, Spec: spec("a", 2, grid.CPU)},
		{At: 10 * time.Second, Node: 1, Spec: own}}
	c.Faults = []Fault{{At: 15 * time.Second, Kind: Leave, Nodes: []int{1}},
		{At: 30 * time.Second, Kind: Restart, Nodes: []int{1}}}
	play(t, c, func(t *testing.T, w *World, r Report) {})
}

// Of a job that ends with its first failure no further task runs: the one that the end of the first gave its core to
// was started in the step that gave it up.
func TestNothingRunsOfAJobThatEndsWithAFailure(t *testing.T) {
	c := lab()
	c.Nodes = 1
	c.Machine = Machine{End: func(grid.AttemptID, string, int) Ending { return Ending{Exit: 1} }}
	s := spec("a", 12, 2*grid.CPU)
	s.Rules.MaxFailures = 1
	c.Work = []Submission{{At: time.Second, Node: 0, Spec: s}}
	w, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Run(); err != nil {
		t.Fatal(err)
	}
	starts := 0
	for k := range 12 {
		starts += w.Outcome(0, k).Starts
	}
	if starts != 1 {
		t.Errorf("%d tasks were started, want the first alone", starts)
	}
}
