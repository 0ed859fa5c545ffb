package sim

import (
	"testing"
	"time"

	"skep/balance/order"
	"skep/grid"
	"skep/node"
)

// sharedNode is a node of two cores of which other users leave one.
func sharedNode() Config {
	c := lab()
	c.Nodes, c.Rest = 1, 0
	c.Available = func(int) (left, up float64) { return 0.5, 1 }
	c.Machine = Machine{Size: Deterministic(), Rate: func(string, int) float64 { return 0.25 }}
	return c
}

// runTime is the time that a submission's task ran.
func runTime(w *World, sub int) time.Duration {
	return w.Outcome(sub, 0).Result.Wall.Round(10 * time.Millisecond)
}

// Tasks share the cores that other users leave: one of four seconds on an idle core takes four, two at once take eight
// each, and a time limit is in wall time.
func TestTasksShareWhatOthersLeave(t *testing.T) {
	c := sharedNode()
	limited := spec("a", 1, grid.CPU)
	limited.Timeout = 6 * time.Second
	one := spec("a", 1, grid.CPU)
	c.Work = []Submission{{At: time.Second, Spec: one}, {At: 20 * time.Second, Spec: one},
		{At: 20 * time.Second, Spec: one},
		{At: 40 * time.Second, Spec: one}, {At: 42 * time.Second, Spec: one}, {At: 60 * time.Second, Spec: limited},
		{At: 60 * time.Second, Spec: one}}
	w, _ := finish(t, c)
	// The fourth has a core for 2 s, then half of one for 4 s; then the fifth, with 2 s of its 4 s done, has the core
	// for 2 s.
	for sub, want := range []time.Duration{4 * time.Second, 8 * time.Second, 8 * time.Second, 6 * time.Second,
		6 * time.Second, 6 * time.Second, 7 * time.Second} {
		if got := runTime(w, sub); got != want {
			t.Errorf("submission %d ran for %v, want %v", sub, got, want)
		}
	}
	if o := w.Outcome(5, 0); o.Result.Cause != grid.TimedOut {
		t.Errorf("the one with six seconds ended by %v", o.Result.Cause)
	}
}

// The share may change while a task runs; the node is told and publishes it.
func TestSharesChange(t *testing.T) {
	c := sharedNode()
	c.Available = nil
	c.Work = []Submission{{At: time.Second, Spec: spec("a", 1, 2*grid.CPU)},
		{At: 60 * time.Second, Spec: spec("a", 1, 2*grid.CPU)}}
	c.Faults = []Fault{{At: 3 * time.Second, Kind: Share, Nodes: []int{0}, Factor: 0.25},
		{At: 7 * time.Second, Kind: Share, Nodes: []int{0}, Factor: 1}}
	w, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	says := func(at time.Duration, want float64) {
		t.Helper()
		if err := w.RunUntil(at); err != nil {
			t.Fatal(err)
		}
		if a := w.Member(0).(*node.Node).Describe(w.Local(0)).Availability; a != want {
			t.Errorf("after %v it says that %g of it is there, want %g", at, a, want)
		}
	}
	says(2*time.Second, 1)
	says(5*time.Second, 0.25)
	says(8*time.Second, 1)
	if _, err := w.Run(); err != nil {
		t.Fatal(err)
	}
	for sub, want := range []time.Duration{7 * time.Second, 4 * time.Second} { // 2 s, 4 s at a quarter, 1 s
		if got := runTime(w, sub); got != want {
			t.Errorf("submission %d ran for %v, want %v", sub, got, want)
		}
	}
}

// A stopping task ends when its grace period is over, however the share changes meanwhile.
func TestSharesChangeWhileATaskIsStopped(t *testing.T) {
	c := sharedNode()
	c.Machine.Rate = func(string, int) float64 { return 0.01 }
	c.Machine.Stop = func(grid.AttemptID) time.Duration { return 5 * time.Second }
	c.Work = []Submission{{At: time.Second, Spec: spec("a", 1, 2*grid.CPU), Cancel: 10 * time.Second}}
	c.Faults = []Fault{{At: 12 * time.Second, Kind: Share, Nodes: []int{0}, Factor: 0.1}}
	for at, want := range map[time.Duration]int{14 * time.Second: 1, 16 * time.Second: 0} {
		w, err := New(c)
		if err == nil {
			err = w.RunUntil(at)
		}
		if err != nil || w.books.Running() != want {
			t.Errorf("after %v %d run (%v), want %d", at, w.books.Running(), err, want)
		}
	}
}

// A share that changes often on every node is published at most as often as a node may publish what it takes back, and
// a steady one not at all.
func TestAlternatingShareCausesNoStorm(t *testing.T) {
	sent := func(every time.Duration) uint64 {
		c := Config{Seed: 5, Nodes: 20, Network: Network{Latency: Uniform(time.Millisecond, 5*time.Millisecond)}}
		c.Available = func(int) (left, up float64) { return 0.5, 1 }
		for at := time.Minute; every > 0 && at < 5*time.Minute; at += every {
			f := Fault{At: at, Kind: Share, Factor: 0.4}
			if at/every%2 == 0 {
				f.Factor = 0.6
			}
			for i := range c.Nodes {
				f.Nodes = append(f.Nodes, i)
			}
			c.Faults = append(c.Faults, f)
		}
		w, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.RunUntil(time.Minute); err != nil {
			t.Fatal(err)
		}
		before := w.Traffic().Sent[grid.KindDigest]
		if err := w.RunUntil(5 * time.Minute); err != nil {
			t.Fatal(err)
		}
		return w.Traffic().Sent[grid.KindDigest] - before
	}
	still, slow, fast := sent(0), sent(10*time.Second), sent(200*time.Millisecond)
	t.Logf("digests in four minutes: %d at rest, %d while shares change every 10 s, %d every 0.2 s", still, slow, fast)
	if float64(fast) > 8*float64(slow) {
		t.Errorf("fifty times as many changes bring %d digests and not %d: want at most eight times as many", fast, slow)
	}
}

// A result says how long a task took from start to end, suspended or not, as that of a process does; its CPU time does
// not go on meanwhile.
func TestResultsCountTheTimeSuspended(t *testing.T) {
	c := sharedNode()
	c.Available, c.Nodes, c.Rest = nil, 1, 0
	c.Machine.Rate = func(string, int) float64 { return 0.1 } // ten seconds
	other := c.Node
	c.Node = func(i int, n *node.Config) {
		other(i, n)
		n.Capacity.CPU = grid.CPU
		n.Order = order.Defaults()
		n.Order.Preempt = 2
	}
	low, high := spec("a", 1, grid.CPU), spec("b", 1, grid.CPU)
	low.Rules.Bid, high.Rules.Bid = grid.Bid(1000), grid.Bid(4000)
	c.Work = []Submission{{At: time.Second, Spec: low}, {At: 4 * time.Second, Spec: high}}
	w, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Run(); err != nil {
		t.Fatal(err)
	}
	if got, cpu := runTime(w, 0), w.Outcome(0, 0).Result.CPU.Round(10*time.Millisecond); got != 20*time.Second ||
		cpu != 10*time.Second || runTime(w, 1) != 10*time.Second {
		t.Errorf("the suspended task took %v and %v of CPU time, the other one %v: want 20s, 10s and 10s", got, cpu,
			runTime(w, 1))
	}
}
