package sim

import (
	"testing"
	"time"

	"skep/grid"
	"skep/node"
)

// replicated is the lab with registers of three members.
func replicated() Config {
	c := lab()
	c.Node = func(_ int, c *node.Config) { c.Capacity.CPU, c.Members = 2*grid.CPU, 3 }
	return c
}

func TestRegisterWithoutFaults(t *testing.T) {
	c := replicated()
	work(&c, 5*time.Second, 200*time.Millisecond, 60, []int{0, 1, 2, 3, 4}, spec("a", 2, grid.CPU))
	play(t, c, func(t *testing.T, w *World, r Report) {
		if r.Failed != 0 || r.Again != 0 {
			t.Errorf("%d failed, %d ran again, with no fault", r.Failed, r.Again)
		}
		for k := range w.cfg.Work {
			if n := len(w.books.Job(k).Members); n != 3 {
				t.Errorf("submission %d is kept by %d members, want 3", k, n)
			}
		}
	})
}

// The origin of all jobs is lost for good: everything ends all the same.
func TestOriginLostForGood(t *testing.T) {
	c := replicated()
	work(&c, 5*time.Second, 50*time.Millisecond, 20, []int{0}, spec("a", 3, grid.CPU))
	c.Faults = []Fault{{At: 9 * time.Second, Kind: Lose, Nodes: []int{0}}}
	play(t, c, func(t *testing.T, w *World, r Report) {
		if r.Failed != 0 {
			t.Errorf("%d tasks failed", r.Failed)
		}
	})
}

// Two of three members die, one for good: nothing happens until a majority is up, and then everything ends.
func TestMajorityGoneAndBack(t *testing.T) {
	c := replicated()
	c.Nodes = 3
	work(&c, 5*time.Second, 50*time.Millisecond, 10, []int{0}, spec("a", 2, grid.CPU))
	c.Faults = []Fault{{At: 7 * time.Second, Kind: Lose, Nodes: []int{0}},
		{At: 8 * time.Second, Kind: Crash, Nodes: []int{1}},
		{At: 60 * time.Second, Kind: Restart, Nodes: []int{1}}}
	play(t, c, func(t *testing.T, w *World, r Report) {
		if r.Failed != 0 {
			t.Errorf("%d tasks failed", r.Failed)
		}
		for k, x := range allTasks(w) {
			if at := x.Ended; at > grid.Time(15*time.Second) && at < grid.Time(60*time.Second) {
				t.Errorf("task %d ended at %v, when one of three members lived", k, time.Duration(at))
			}
		}
	})
}

// Tasks queued at their owner that cannot start without a majority make it look busy only for a while: a later job,
// whose tasks go to idle nodes only, ends there. When a majority is back, so does the first job.
func TestWhatCannotStartKeepsNobodyWaiting(t *testing.T) {
	c := replicated()
	c.Nodes = 3
	c.Node = func(_ int, c *node.Config) { c.Capacity.CPU, c.Members, c.Policy = grid.CPU, 3, "mct" }
	c.Machine = Machine{Size: Deterministic(), Rate: func(string, int) float64 { return 0.2 }}
	idle := spec("b", 3, grid.CPU)
	idle.Policy = "workqueue"
	c.Work = []Submission{{At: 5 * time.Second, Node: 0, Spec: spec("a", 12, grid.CPU)},
		{At: time.Minute, Node: 0, Spec: idle}}
	back := 5 * time.Minute
	c.Faults = []Fault{{At: 12 * time.Second, Kind: Crash, Nodes: []int{1, 2}},
		{At: back, Kind: Restart, Nodes: []int{1, 2}}}
	play(t, c, func(t *testing.T, w *World, r Report) {
		for k := range w.cfg.Work[1].Spec.Count {
			if x := w.Outcome(1, int(k)); x.Ended > back {
				t.Errorf("task %d of the later job ended after %v", k, x.Ended)
			}
		}
	})
}

// The origin is lost for good while at-most-once tasks run on others: each runs once, and tasks that no worker has are
// lost.
func TestAtMostOnceOverATakeover(t *testing.T) {
	c := replicated()
	s := spec("a", 4, grid.CPU)
	s.Retries = 0
	work(&c, 5*time.Second, 50*time.Millisecond, 10, []int{0}, s)
	c.Faults = []Fault{{At: 8 * time.Second, Kind: Lose, Nodes: []int{0}}}
	kept := 0
	play(t, c, func(t *testing.T, w *World, r Report) {
		for k, x := range allTasks(w) {
			if x.Starts > 1 {
				t.Errorf("task %d was started %d times", k, x.Starts)
			}
			if x.Ended > grid.Time(9*time.Second) && x.Result.Cause == grid.Exited {
				kept++
			}
		}
	})
	if kept == 0 {
		t.Error("no attempt of the lost owner was taken over in any world")
	}
}

// Up to the bound on drift only one node may act as a job's owner, whenever the owner is cut off. Beyond the bound two
// may: the check finds what the bound prevents.
func TestOneActingOwnerWithinDriftBound(t *testing.T) {
	for _, drift := range []float64{50_000, 100_000} {
		two := 0
		for cut := range 60 {
			c := replicated()
			c.Nodes, c.Check = 3, CheckRecords
			c.Machine.Rate = func(string, int) float64 { return 0.01 }
			work(&c, 2*time.Second, 0, 1, []int{0}, spec("a", 1, grid.CPU))
			c.Faults = []Fault{{At: time.Second, Kind: Drift, Nodes: []int{0}, Factor: -drift},
				{At: time.Second, Kind: Drift, Nodes: []int{1, 2}, Factor: drift},
				{At: 20*time.Second + time.Duration(cut)*170*time.Millisecond, Kind: Cut, Nodes: []int{0}}}
			w, err := New(c)
			if err != nil {
				t.Fatal(err)
			}
			for at := 20 * time.Second; at < 50*time.Second && two == 0; at += 20 * time.Millisecond {
				if err := w.RunUntil(at); err != nil {
					t.Fatal(err)
				}
				acting := 0
				for i := range w.hosts {
					if n, ok := w.hosts[i].member.(*node.Node); ok && n.MayAct(w.local(int32(i)), w.JobID(0)) {
						acting++
					}
				}
				if acting > 1 {
					two++
				}
			}
		}
		if within := drift == 50_000; (two == 0) != within {
			t.Errorf("clocks wrong by %.0f %%: two nodes act at once in %d worlds", drift/10_000, two)
		}
	}
}

// When everything has ended, registers send nothing: members know the end and owners send no keepalives.
func TestNothingIsSaidAboutJobsThatAreOver(t *testing.T) {
	c := replicated()
	work(&c, 5*time.Second, 100*time.Millisecond, 20, []int{0, 1, 2, 3, 4}, spec("a", 2, grid.CPU))
	c.Faults = []Fault{{At: 7 * time.Second, Kind: Lose, Nodes: []int{1}}}
	play(t, c, func(t *testing.T, w *World, r Report) {
		if err := w.RunUntil(w.Now() + time.Minute); err != nil {
			t.Fatal(err)
		}
		before := w.Traffic().Sent
		if err := w.RunUntil(w.Now() + 5*time.Minute); err != nil {
			t.Fatal(err)
		}
		for k := grid.KindWrite; k <= grid.KindTakeover; k++ {
			if n := w.Traffic().Sent[k] - before[k]; n > 0 {
				t.Errorf("%d messages of kind %v when all was over", n, k)
			}
		}
	})
}
