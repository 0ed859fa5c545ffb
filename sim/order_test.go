package sim

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
)

// ordered runs a world to its end under some seeds; its digests are not kept.
func ordered(t *testing.T, c Config, check func(w *World)) {
	t.Helper()
	for _, seed := range seeds(3) {
		c.Seed = seed
		w, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Run(); err != nil {
			t.Fatal(err)
		}
		if check(w); t.Failed() {
			t.Fatalf("with seed %d", seed)
		}
	}
}

// wantWell checks that all tasks of a submission have ended well.
func wantWell(t *testing.T, w *World, submission int) {
	t.Helper()
	for i := range w.cfg.Work[submission].Spec.Count {
		if x := w.Outcome(submission, int(i)); x.State != grid.Ended || x.Result == nil || x.Result.Exit != 0 {
			t.Fatalf("task %d of submission %d: %v, %+v; want a good end", i, submission, x.State, x.Result)
		}
	}
}

// pipeline is three jobs of 200 tasks; each task waits for that of its index in the job before.
func pipeline(nodes []int) Config {
	c := replicated()
	c.Nodes = 12
	c.Network.Latency = Uniform(time.Millisecond, 20*time.Millisecond)
	c.Network.Loss, c.Network.Duplicate = 0.02, 0.02
	for k := range 3 {
		s := Submission{At: time.Duration(10+k) * time.Second, Node: nodes[k], Spec: spec("a", 200, grid.CPU)}
		if k > 0 {
			s.After = []After{{On: k - 1, Kind: grid.AfterEach}}
		}
		c.Work = append(c.Work, s)
	}
	return c
}

// A pipeline of 3 × 200 tasks, submitted through one node, that loses this node and others while it runs, and of which
// others restart: nothing is lost, and the oracle sees that nothing starts early and nothing ends twice.
func TestPipelineSurvivesItsNodes(t *testing.T) {
	for name, nodes := range map[string][]int{"one submit node": {0, 0, 0}, "three": {0, 1, 2}} {
		t.Run(name, func(t *testing.T) {
			c := pipeline(nodes)
			for k, fault := range []Fault{{Kind: Crash, Nodes: []int{5, 6}}, {Kind: Lose, Nodes: []int{0}},
				{Kind: Restart, Nodes: []int{5, 6}}, {Kind: Crash, Nodes: []int{1}}, {Kind: Lose, Nodes: []int{7}},
				{Kind: Restart, Nodes: []int{1}}, {Kind: Crash, Nodes: []int{2, 3}}, {Kind: Restart, Nodes: []int{2, 3}}} {
				fault.At = time.Duration(15+8*k) * time.Second
				c.Faults = append(c.Faults, fault)
			}
			ordered(t, c, func(w *World) {
				for k := range 3 {
					wantWell(t, w, k)
				}
			})
		})
	}
}

// A job that is to run at most once is not taken for lost when its owner dies while it waits: nothing of it can have
// been placed.
func TestHeldJobIsNotLostWithItsOwner(t *testing.T) {
	c := replicated()
	c.Nodes = 9
	long := spec("a", 3, grid.CPU)
	once := spec("b", 5, grid.CPU)
	once.Retries = 0
	c.Work = []Submission{{At: 10 * time.Second, Node: 1, Spec: long}, {At: 12 * time.Second, Node: 0, Spec: once,
		After: []After{{On: 0, Kind: grid.AfterOK}}}}
	rate := c.Machine.Rate
	c.Machine.Rate = func(class string, i int) float64 {
		if class == "a" {
			return 0.01
		}
		return rate(class, i)
	}
	c.Faults = []Fault{{At: 15 * time.Second, Kind: Lose, Nodes: []int{0}}}
	ordered(t, c, func(w *World) { wantWell(t, w, 1) })
}

// Nodes of the version before neither keep nor release a job that waits for others, and run its tasks.
func TestOldNodesReleaseNothing(t *testing.T) {
	c := pipeline([]int{0, 0, 0})
	for k := range c.Work {
		s := *c.Work[k].Spec
		s.Count = 20
		c.Work[k].Spec = &s
	}
	old := []int{3, 4, 5, 6, 7}
	c.Network.Kinds = func(i int) grid.KindSet {
		if slices.Contains(old, i) {
			return grid.AllKinds &^ (1<<grid.KindAwait | 1<<grid.KindAwaited)
		}
		return grid.AllKinds
	}
	c.Faults = []Fault{{At: 25 * time.Second, Kind: Lose, Nodes: []int{0}}}
	ordered(t, c, func(w *World) {
		for k := 1; k < 3; k++ {
			wantWell(t, w, k)
			for _, id := range w.books.Job(k).Members {
				if slices.Contains(old, int(w.index(id))) {
					t.Errorf("submission %d is kept by the old node n%d", k, w.index(id))
				}
			}
		}
	})
}

// Files that a job leaves are inputs of the one that waits for it, also where the one that it left them with is gone.
func TestFilesOfAnotherJobArrive(t *testing.T) {
	c := replicated()
	c.Nodes = 9
	other := c.Node
	c.Node = func(i int, n *node.Config) {
		other(i, n)
		n.Labels = append(n.Labels, grid.FeatureLabels()...)
	}
	first := spec("a", 6, grid.CPU)
	first.Outputs = []string{"out"}
	c.Work = []Submission{{At: 10 * time.Second, Node: 1, Spec: first}, {At: 11 * time.Second, Node: 2,
		Spec: spec("a", 6, grid.CPU), After: []After{{On: 0, Kind: grid.AfterEach, Path: "out"}}}}
	c.Faults = []Fault{{At: 14 * time.Second, Kind: Lose, Nodes: []int{1}}}
	ordered(t, c, func(w *World) { wantWell(t, w, 1) })
}
