package sim

import (
	"testing"
	"time"

	"skep/grid"
	"skep/node"
)

// share is the mean time in seconds that tasks take from their submission to their end.
func share(t *testing.T, seed uint64, nodes int, rule string, counts ...uint32) (all []float64) {
	t.Helper()
	c := Config{Seed: seed, Nodes: nodes, Network: Network{Latency: Uniform(time.Millisecond, 5*time.Millisecond)},
		Machine: Machine{Size: Exponential(), Rate: func(string, int) float64 { return 0.1 }},
		Node: func(_ int, c *node.Config) {
			c.Capacity.CPU, c.Order.Rule, c.Members = 4*grid.CPU, rule, 1
		}}
	for i, n := range counts {
		s := spec("c", n, grid.CPU)
		at := 20 * time.Second
		if s.Retries = 2; n < 1000 { // while the flood is there
			at = time.Minute
		}
		c.Work = append(c.Work, Submission{At: at, Node: i % nodes, Spec: s})
	}
	w, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.RunUntil(3 * time.Hour); err != nil {
		t.Fatal(err)
	}
	for i, n := range counts {
		sum := 0.0
		for k := range int(n) {
			o := w.Outcome(i, k)
			if o.State != grid.Ended {
				t.Fatalf("task %d of submission %d has not ended", k, i)
			}
			sum += (o.Ended - c.Work[i].At).Seconds()
		}
		all = append(all, sum/float64(n))
	}
	return all
}

// Three users of three nodes of four cores, with equal bids: one floods the grid with 2,000 tasks, two submit 50 each.
// These take at most 1.3 times as long as alone on a third of the grid. Under fifo they wait for the flood.
func TestFloodLeavesOthersTheirShare(t *testing.T) {
	const seeds = 3
	alone, beside, fifo := 0.0, 0.0, 0.0
	for seed := range uint64(seeds) {
		alone += share(t, seed, 1, "fair", 50)[0] / seeds
		both := share(t, seed, 3, "fair", 2000, 50, 50)
		beside += (both[1] + both[2]) / 2 / seeds
		if seed == 0 {
			both = share(t, seed, 3, "fifo", 2000, 50, 50)
			fifo = (both[1] + both[2]) / 2
		}
	}
	t.Logf("tasks of 10 s take %.0f s alone on a third of the grid, %.0f s beside the flood, %.0f s under fifo: "+
		"slowdown %.2f", alone, beside, fifo, beside/alone)
	if beside > 1.3*alone {
		t.Errorf("slowdown %.2f, want at most 1.3", beside/alone)
	}
	if fifo < 3*alone {
		t.Errorf("under fifo they take %.0f s: the flood is too small to matter", fifo)
	}
}
