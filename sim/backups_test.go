package sim

import (
	"testing"
	"time"

	"skep/grid"
	"skep/node"
)

// makespan is the time until the last task of an array ends under a policy, on ten nodes of which two are twenty times
// slower.
func makespan(t *testing.T, policy string, seed uint64) (time.Duration, Report) {
	s := swarmSpec("a", 60, grid.CPU)
	s.Retries, s.Policy, s.Idempotent = 1000, policy, true
	w, r := finish(t, Config{Seed: seed, Nodes: 10, Network: Network{Mesh: true, Latency: Constant(2 * time.Millisecond)},
		Machine: Machine{Rate: func(_ string, i int) float64 {
			if i >= 8 {
				return 0.05
			}
			return 1
		}},
		Node: func(i int, c *node.Config) { c.Capacity.CPU = grid.CPU },
		Work: []Submission{{At: 10 * time.Second, Spec: s}}})
	end := grid.Time(0)
	for _, x := range allTasks(w) {
		end = max(end, x.Ended)
	}
	return end.Sub(grid.Time(10 * time.Second)), r
}

// Workqueue gives a slow node a task as it gives any idle one, and the array waits for it; with backup attempts a fast
// idle node ends it [4, section 2.2]. No speed is known beforehand.
func TestSecondCopiesEndTheArraySooner(t *testing.T) {
	for _, seed := range seeds(3) {
		plain, _ := makespan(t, "workqueue", seed)
		twice, r := makespan(t, "workqueue:2", seed)
		t.Logf("seed %d: %v with one copy, %v with two, %d attempts beyond the first", seed, plain, twice, r.Again)
		if twice > plain/2 {
			t.Errorf("seed %d: %v with two copies, %v with one: want half or less", seed, twice, plain)
		}
	}
}
