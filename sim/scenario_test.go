package sim

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
)

var logFlag = flag.Bool("sim.log", false, "print every step of a failing scenario")

// lab is five equal machines of two cores in a LAN.
func lab() Config {
	return Config{Seed: 1, Nodes: 5, Check: CheckPoison,
		Network: Network{Mesh: true, Latency: Uniform(200*time.Microsecond, 2*time.Millisecond)},
		Node:    func(_ int, c *node.Config) { c.Capacity.CPU = 2 * grid.CPU },
		Machine: Machine{Size: Exponential(), Rate: func(string, int) float64 { return 0.5 }},
		Disk:    Disk{Sync: 2 * time.Millisecond}, Rest: time.Minute}
}

// work submits jobs of one task from a time on, to nodes in turn.
func work(c *Config, at, every time.Duration, tasks int, nodes []int, s *grid.JobSpec) {
	for k := range tasks {
		c.Work = append(c.Work, Submission{At: at + time.Duration(k)*every, Node: nodes[k%len(nodes)], Spec: s})
	}
}

// play runs a scenario to its end under several seeds.
func play(t *testing.T, c Config, check func(t *testing.T, w *World, r Report)) {
	t.Helper()
	for _, seed := range seeds(5) {
		c.Seed = seed
		c.Repeat = fmt.Sprintf("go test ./sim -run '^%s$' -sim.seed=%d", t.Name(), seed)
		if *logFlag {
			c.Log = func(line string) { fmt.Println(line) }
		}
		w, r := finish(t, c)
		if r.Ended != r.Tasks {
			t.Fatalf("seed %d: %d of %d tasks ended", seed, r.Ended, r.Tasks)
		}
		check(t, w, r)
		if t.Failed() {
			t.Fatalf("repeat with: %s", c.Repeat)
		}
	}
}

func TestFiveNodesSixtyTasks(t *testing.T) {
	c := lab()
	c.Network.Join, c.Network.Mesh = 2, false
	c.Node = func(_ int, c *node.Config) { c.Capacity.CPU = 2 * grid.CPU }
	work(&c, 5*time.Second, 200*time.Millisecond, 60, []int{0, 1, 2, 3, 4}, spec("a", 1, grid.CPU))
	play(t, c, func(t *testing.T, w *World, r Report) {
		if r.Failed != 0 || r.Again != 0 {
			t.Errorf("%d failed, %d ran again, with no fault", r.Failed, r.Again)
		}
		for k := range 60 {
			if o := w.Outcome(k, 0); o.Starts != 1 {
				t.Errorf("task %d was started %d times", k, o.Starts)
			}
		}
	})
}

func TestWorkMovesToIdleNodes(t *testing.T) {
	c := lab()
	work(&c, 5*time.Second, 100*time.Millisecond, 40, []int{0}, spec("a", 1, grid.CPU))
	play(t, c, func(t *testing.T, w *World, r Report) {
		if moved := float64(r.Moved) / float64(max(r.Ended, 1)); moved < 0.4 {
			t.Errorf("%.0f %% of the tasks moved away from the only node with work, of five", 100*moved)
		}
	})
}

// A worker dies while it runs tasks and comes back: they run again elsewhere, and each ends once.
func TestWorkerKilled(t *testing.T) {
	c := lab()
	c.Machine.Rate = func(_ string, n int) float64 { return []float64{0.01, 1, 1, 1, 1}[n] }
	work(&c, 5*time.Second, 0, 16, []int{0}, spec("a", 1, 2*grid.CPU))
	c.Faults = []Fault{{At: 6 * time.Second, Kind: Crash, Nodes: []int{1, 2}},
		{At: 40 * time.Second, Kind: Restart, Nodes: []int{1, 2}}}
	again := 0
	play(t, c, func(t *testing.T, w *World, r Report) {
		again += r.Again
		if r.Failed != 0 {
			t.Errorf("%d tasks failed", r.Failed)
		}
	})
	if again == 0 {
		t.Error("no task had to run again in any world: the scenario tests nothing")
	}
}

// A worker is cut off while it runs a task, which runs again elsewhere; then its late result arrives.
func TestLateResultIsDropped(t *testing.T) {
	c := lab()
	c.Machine = Machine{Rate: func(_ string, n int) float64 { return []float64{0, 0.02, 0.02, 0.02, 0.02}[n] }}
	work(&c, 5*time.Second, time.Second, 4, []int{0}, spec("a", 1, grid.CPU))
	c.Faults = []Fault{{At: 20 * time.Second, Kind: Cut, Nodes: []int{0, 4}}, {At: 60 * time.Second, Kind: Heal}}
	late := 0
	play(t, c, func(t *testing.T, w *World, r Report) {
		for k := range 4 {
			o := w.Outcome(k, 0)
			if o.Starts > 1 {
				late++
			}
			if o.Result.Exit != 0 {
				t.Errorf("task %d exits with %d", k, o.Result.Exit)
			}
		}
	})
	if late == 0 {
		t.Error("no task ran twice in any world: the scenario tests nothing")
	}
}

func TestOriginRestarted(t *testing.T) {
	c := lab()
	work(&c, 5*time.Second, 50*time.Millisecond, 40, []int{0}, spec("a", 1, grid.CPU))
	c.Faults = []Fault{{At: 8 * time.Second, Kind: Crash, Nodes: []int{0}},
		{At: 12 * time.Second, Kind: Restart, Nodes: []int{0}},
		{At: 15 * time.Second, Kind: Crash, Nodes: []int{0}}, {At: 15*time.Second + time.Millisecond, Kind: Restart,
			Nodes: []int{0}}}
	play(t, c, func(t *testing.T, w *World, r Report) {
		if r.Failed != 0 {
			t.Errorf("%d tasks failed", r.Failed)
		}
	})
}

func TestCannotExecuteHereButThere(t *testing.T) {
	c := lab()
	c.Machine.Rate = func(_ string, n int) float64 { return []float64{0, 0, 0, 0, 1}[n] }
	work(&c, 5*time.Second, time.Second, 12, []int{0, 1, 2}, spec("a", 1, grid.CPU))
	play(t, c, func(t *testing.T, w *World, r Report) {
		for k := range 12 {
			if o := w.Outcome(k, 0); o.Result.Exit != 0 || o.Worker != 4 || o.Starts != 1 {
				t.Errorf("task %d: exit %d on n%d after %d starts, want 0 on n4, the only one with the program", k, o.Result.Exit,
					o.Worker, o.Starts)
			}
		}
	})
}

func TestNobodyCanExecute(t *testing.T) {
	c := lab()
	c.Machine.Rate = func(string, int) float64 { return 0 }
	work(&c, 5*time.Second, time.Second, 3, []int{0, 1, 2}, spec("a", 1, grid.CPU))
	play(t, c, func(t *testing.T, w *World, r Report) {
		for k := range 3 {
			if o := w.Outcome(k, 0); o.Result.Exit != grid.ExitCannotExecute {
				t.Errorf("task %d exits with %d, want %d", k, o.Result.Exit, grid.ExitCannotExecute)
			}
		}
	})
}

func TestNobodyFits(t *testing.T) {
	c := lab()
	s := spec("a", 1, grid.CPU)
	s.Needs.Labels = []grid.LabelNeed{{Key: "gpu", Values: []string{"yes"}}}
	work(&c, 5*time.Second, time.Second, 3, []int{0, 1}, s)
	work(&c, 10*time.Second, time.Second, 2, []int{3}, spec("big", 1, 64*grid.CPU))
	play(t, c, func(t *testing.T, w *World, r Report) {
		for k := range 5 {
			if o := w.Outcome(k, 0); o.Result.Exit != grid.ExitUnplaceable || o.Starts != 0 {
				t.Errorf("task %d exits with %d after %d starts, want %d after none", k, o.Result.Exit, o.Starts,
					grid.ExitUnplaceable)
			}
		}
	})
}

func TestLossDuplicationAndReordering(t *testing.T) {
	c := lab()
	c.Network.Loss, c.Network.Duplicate, c.Network.Reorder = 0.2, 0.2, 0.2
	work(&c, 5*time.Second, 100*time.Millisecond, 60, []int{0, 1, 2, 3, 4}, spec("a", 1, grid.CPU))
	play(t, c, func(t *testing.T, w *World, r Report) {
		if r.Failed != 0 {
			t.Errorf("%d tasks failed", r.Failed)
		}
	})
}

func TestPartitionHeals(t *testing.T) {
	for _, kind := range []FaultKind{Cut, CutOut, CutIn} {
		c := lab()
		work(&c, 5*time.Second, 500*time.Millisecond, 60, []int{0, 1, 2, 3, 4}, spec("a", 1, grid.CPU))
		c.Faults = []Fault{{At: 10 * time.Second, Kind: kind, Nodes: []int{0, 1}}, {At: 70 * time.Second, Kind: Heal}}
		play(t, c, func(t *testing.T, w *World, r Report) {
			if r.Failed != 0 {
				t.Errorf("%v: %d tasks failed", kind, r.Failed)
			}
		})
	}
}

func TestAtMostOnceIsNeverStartedTwice(t *testing.T) {
	c := lab()
	s := spec("a", 1, grid.CPU)
	s.Retries = 0
	c.Network.Loss = 0.1
	work(&c, 5*time.Second, 100*time.Millisecond, 60, []int{0, 1, 2, 3, 4}, s)
	c.Faults = DrawFaults(grid.NewRand(1, 1), 5, 6, 30*time.Second)
	play(t, c, func(t *testing.T, w *World, r Report) {
		for k := range 60 {
			if o := w.Outcome(k, 0); o.Starts > 1 {
				t.Errorf("task %d was started %d times", k, o.Starts)
			}
		}
	})
}
