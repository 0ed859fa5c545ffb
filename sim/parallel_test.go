package sim

import (
	"math"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
	"skep/node/schedule"
	"skep/sim/mesh"
)

// meshWorld is six nodes of a core, of which the last four are half as fast as the first two, with a gang of all of
// them that executes Game of Life on 3000×3000 points: 0.054 s an iteration if all work ends at once.
func meshWorld(iterations int, of *grid.ScheduleSearch) Config {
	const nodes = 6
	c := Config{Seed: 4, Nodes: nodes, Bound: time.Hour, Network: Network{Latency: Constant(time.Millisecond)}}
	p := &Parallel{Program: func(string) (mesh.Program, int) { return mesh.Life(3000), iterations },
		Path: func(from, to int) []int { return []int{2 * from, 2*to + 1} }}
	for i := range nodes {
		p.Capacity = append(p.Capacity, schedule.SiteBandwidth, schedule.SiteBandwidth)
		p.Speed = append(p.Speed, speedOf(i)*schedule.ReferenceWork)
	}
	c.Machine.Parallel = p
	c.Node = func(i int, n *node.Config) { n.Capacity.CPU, n.Speed = grid.CPU, speedOf(i) }
	g := spec("life", nodes, grid.CPU)
	g.Gang = grid.Gang{Ranks: nodes, Search: of}
	g.Retries = 10
	c.Work = []Submission{{At: 10 * time.Second, Node: 1, Spec: g}}
	return c
}

func speedOf(i int) float64 {
	if i < 2 {
		return 1
	}
	return 0.5
}

func lifeOf3000() *grid.ScheduleSearch {
	return &grid.ScheduleSearch{Model: "life", Parameters: []grid.Parameter{{Name: "latency", Value: 1},
		{Name: "n", Value: 3000}}}
}

// runGang runs a world of one gang, which ends well, and returns the attempts that ran.
func runGang(t *testing.T, c Config) []GangRun {
	t.Helper()
	w, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Run(); err != nil {
		t.Fatal(err)
	}
	for k := range c.Work[0].Spec.Count {
		if o := w.Outcome(0, int(k)); o.State != grid.Ended || o.Result == nil || o.Result.Exit != 0 {
			t.Fatalf("rank %d: %+v", k, o)
		}
	}
	return w.Gangs(0)
}

// With shares by the product's own search a gang takes as long as that predicts; with equal ones, as its slowest node.
func TestGangsRunAsPredicted(t *testing.T) {
	all := runGang(t, meshWorld(100, lifeOf3000()))
	if len(all) != 1 || all[0].Nodes != 6 {
		t.Fatalf("%+v; want one run at six nodes", all)
	}
	g := all[0]
	// two exchanges of a latency and 12 kB each; messages of both neighbours may share a port
	if want := 0.054 + 2*(0.001+12e3/schedule.SiteBandwidth); math.Abs(g.Iteration-want) > 0.02*want ||
		math.Abs(g.Predicted-want) > 0.02*want {
		t.Errorf("%g s an iteration, %g predicted; want %g", g.Iteration, g.Predicted, want)
	}
	if took := (g.Ended - g.Began).Seconds(); math.Abs(took-100*g.Iteration) > 0.02*took {
		t.Errorf("%g s of 100 iterations of %g s", took, g.Iteration)
	}
	equal := runGang(t, meshWorld(100, nil))
	want := 0.072 + 0.0022
	if len(equal) != 1 || math.Abs(equal[0].Iteration-want) > 0.02*want || equal[0].Predicted != 0 {
		t.Errorf("equal shares: %+v; want %g s an iteration", equal, want)
	}
}

// The load of one node slows all ranks down, for as long as it lasts.
func TestLoadSlowsAGang(t *testing.T) {
	c := meshWorld(1000, lifeOf3000())
	c.Faults = []Fault{{At: 20 * time.Second, Kind: Share, Nodes: []int{3}, Factor: 0.5},
		{At: 30 * time.Second, Kind: Share, Nodes: []int{3}, Factor: 1},
		{At: 30 * time.Second, Kind: Slow, Nodes: []int{0}, Factor: 4},
		{At: 40 * time.Second, Kind: Slow, Nodes: []int{0}, Factor: 1}}
	g := runGang(t, c)[0]
	// in 10 s of half the speed there are 10/(2·0.054+0.0022) iterations, and as for a quarter
	want := 20 + (1000-10/0.1102-10/0.2182)*0.0562
	if took := (g.Ended - g.Began).Seconds(); math.Abs(took-want) > 0.03*want {
		t.Errorf("it took %g s; want %g", took, want)
	}
}

// A gang that loses a rank begins again from the start, as one attempt more; none of the first one's ranks goes on.
func TestLostRankStopsAGang(t *testing.T) {
	c := meshWorld(400, lifeOf3000())
	c.Faults = []Fault{{At: 20 * time.Second, Kind: Crash, Nodes: []int{4}},
		{At: 25 * time.Second, Kind: Restart, Nodes: []int{4}}}
	all := runGang(t, c)
	if len(all) != 2 || all[0].Ended != 0 || all[1].Began < 25*time.Second || all[1].Ended == 0 ||
		!all[0].Attempt.Less(all[1].Attempt) {
		t.Fatalf("%+v; want one that was lost, and a second one", all)
	}
	if took := (all[1].Ended - all[1].Began).Seconds(); math.Abs(took-400*0.0562) > 1 {
		t.Errorf("the second took %g s; want all of its iterations", took)
	}
}

// A gang has a time limit as any job, and is stopped by a cancel.
func TestGangsThatAreStopped(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"time limit": func(c *Config) { c.Work[0].Spec.Timeout, c.Work[0].Spec.Retries = 5*time.Second, 0 },
		"cancel":     func(c *Config) { c.Work[0].Cancel = 15 * time.Second },
	} {
		c := meshWorld(10_000, lifeOf3000())
		change(&c)
		w, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Run(); err != nil {
			t.Fatal(err)
		}
		if all := w.Gangs(0); len(all) != 1 || all[0].Ended != 0 || w.Now() > time.Minute {
			t.Errorf("%s: %+v at %v; want one that did not end", name, all, w.Now())
		}
		if next := w.parallel.live.Next(); !math.IsInf(next, 1) {
			t.Errorf("%s: its program goes on at %g", name, next)
		}
	}
}

// The same world gives the same digest.
func TestGangsRepeat(t *testing.T) {
	var digests [2]uint64
	for k := range digests {
		w, err := New(meshWorld(50, lifeOf3000()))
		if err != nil {
			t.Fatal(err)
		}
		r, err := w.Run()
		if err != nil {
			t.Fatal(err)
		}
		digests[k] = r.Digest
	}
	if digests[0] != digests[1] {
		t.Errorf("digests %x", digests)
	}
}
