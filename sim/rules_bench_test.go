package sim

import (
	"testing"
	"time"

	"skep/grid"
	"skep/internal/cputime"
	"skep/node"
)

// BenchmarkRulesBars: an array of 10,000 tasks on 100 slots of the simulator, of which 100 may run at a time and
// one in twenty fails twice before it succeeds, over the same array without failures and without bound: CPU time, and
// time in the simulated grid. In real nodes the tasks themselves come on top of both.
func BenchmarkRulesBars(b *testing.B) {
	array := func(rules grid.Rules, fails int) (cpu, wall time.Duration, starts int) {
		runs := make(map[uint32]int)
		spec := &grid.JobSpec{Class: "a", Engine: grid.EngineProcess, Command: []string{"work"}, Count: 10_000,
			Retries: 3, Needs: grid.Needs{Resources: grid.Resources{CPU: grid.CPU}}, Rules: rules}
		c := Config{Seed: 1, Nodes: 25, Check: CheckNothing, NoDigest: true, Spread: time.Second,
			Network: Network{Latency: Uniform(time.Millisecond, 2*time.Millisecond), Mesh: true},
			Work:    []Submission{{At: 5 * time.Second, Spec: spec}},
			Node: func(_ int, c *node.Config) {
				c.Capacity.CPU = 4 * grid.CPU
			},
			Machine: Machine{End: func(a grid.AttemptID, _ string, _ int) Ending {
				starts++
				if runs[a.Task.Index]++; a.Task.Index%20 == 0 && runs[a.Task.Index] <= fails {
					return Ending{Exit: 1}
				}
				return Ending{}
			}}}
		before := cputime.Used()
		w, err := New(c)
		if err == nil {
			_, err = w.Run()
		}
		if err != nil {
			b.Fatal(err)
		}
		for i := range int(spec.Count) {
			t := w.books.Task(0, i)
			if t.Result.Exit != 0 {
				b.Fatalf("task %d: exit %d", i, t.Result.Exit)
			}
			wall = max(wall, t.Ended.Sub(0))
		}
		return cputime.Used() - before, wall, starts
	}
	rules := grid.Rules{OnFailure: grid.OnFailure{Retry: 2, Backoff: time.Second}, MaxRunning: 100}
	var cpu, wall [2]time.Duration
	for range 5 { // in turns: what else runs on the machine slows both
		c, w, _ := array(grid.Rules{}, 0)
		cpu[0], wall[0] = cpu[0]+c, wall[0]+w
		c, w, starts := array(rules, 2)
		cpu[1], wall[1] = cpu[1]+c, wall[1]+w
		if starts != 11_000 {
			b.Errorf("%d runs: want 10000, and 1000 that failed", starts)
		}
	}
	for _, x := range []struct {
		what string
		of   [2]time.Duration
	}{{"CPU", cpu}, {"time in the grid", wall}} {
		ratio := float64(x.of[1]) / float64(x.of[0])
		report("10,000 tasks, 100 at a time, 5 % fail twice: "+x.what, ratio, "×", "≤ 1.15", ratio <= 1.15)
	}
}
