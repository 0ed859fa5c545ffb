package sim

import (
	"math"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
)

// bidding is a task that bids.
func bidding(bid grid.Bid) *grid.JobSpec {
	s := spec("a", 1, grid.CPU)
	s.Rules.Bid = bid
	return s
}

// proportionalNode is a node of one core that its tasks share, on which each takes four seconds alone.
func proportionalNode(least float64) Config {
	c := lab()
	c.Nodes, c.Rest = 1, 0
	c.Node = func(_ int, c *node.Config) { c.Capacity.CPU, c.Members, c.Order.LeastSpeed = grid.CPU, 1, least }
	c.Machine = Machine{Size: Deterministic(), Rate: func(string, int) float64 { return 0.25 }}
	return c
}

// ended runs a world to its end; its digest is not kept.
func ended(t *testing.T, c Config) *World {
	t.Helper()
	w, err := New(c)
	if err == nil {
		_, err = w.Run()
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Section 6.5.4 of the thesis on markets: of bids 1, 2 and 4 the last has 4/7 of the core, then the second 2/3.
func TestTasksShareByTheirBids(t *testing.T) {
	c := proportionalNode(0.1)
	for _, bid := range []grid.Bid{1000, 2000, 4000} {
		c.Work = append(c.Work, Submission{At: time.Second, Spec: bidding(bid)})
	}
	w := ended(t, c)
	for sub, want := range []time.Duration{12 * time.Second, 10 * time.Second, 7 * time.Second} {
		if got := runTime(w, sub); got != want {
			t.Errorf("submission %d ran for %v, want %v", sub, got, want)
		}
		if cpu := w.Outcome(sub, 0).Result.CPU; math.Abs(cpu.Seconds()-4) > 0.01 {
			t.Errorf("submission %d used %v of processor time, want 4 s", sub, cpu)
		}
	}
	if busy := w.Busy(0); math.Abs(busy-12) > 0.1 {
		t.Errorf("the node has done %v core-seconds, want 12", busy)
	}
}

// What would take one below the least speed waits: at a half two run at a time.
func TestTasksThatWouldBeTooSlowWait(t *testing.T) {
	c := proportionalNode(0.5)
	for range 4 {
		c.Work = append(c.Work, Submission{At: time.Second, Spec: bidding(1000)})
	}
	w := ended(t, c)
	for sub, want := range []time.Duration{8, 8, 16, 16} {
		if got := time.Duration(w.Outcome(sub, 0).Ended) - time.Second; math.Abs((got - want*time.Second).Seconds()) > 0.5 {
			t.Errorf("submission %d ends after %v, want %v", sub, got, want*time.Second)
		}
	}
}

// A node tells what it has measured as if each task had been alone, so its rate is that of a node that shares nothing.
func TestSharedRunTimesAreThoseAlone(t *testing.T) {
	c := proportionalNode(0.2)
	for i := range 12 {
		c.Work = append(c.Work, Submission{At: time.Second + time.Duration(i)*time.Second/2, Spec: bidding(1000)})
	}
	w := ended(t, c)
	ad := w.hosts[0].member.(*node.Node).Describe(w.local(0))
	if len(ad.Rates) == 0 || math.Abs(ad.Rates[0].Mu-0.25) > 0.02 {
		t.Errorf("rates %+v: want 0.25 a second", ad.Rates)
	}
	if ad.Sharing != (grid.Sharing{Least: 0.2}) {
		t.Errorf("the idle node says %+v of its sharing", ad.Sharing)
	}
}

// The higher of two bids goes where it is faster: each of two nodes has taken one task of a bid of 1, and the next bids
// 3; then one of 1 goes to the other node.
func TestBidsChooseBySpeed(t *testing.T) {
	c := proportionalNode(0.1)
	c.Nodes, c.Rest = 2, 30*time.Second
	c.Machine.Rate = func(string, int) float64 { return 0.02 }
	warm := spec("a", 2, grid.CPU)
	c.Work = []Submission{{At: time.Second, Spec: warm}, {At: 150 * time.Second, Spec: bidding(1000)},
		{At: 152 * time.Second, Spec: bidding(1000)}, {At: 155 * time.Second, Spec: bidding(3000)},
		{At: 160 * time.Second, Spec: bidding(1000)}}
	w := ended(t, c)
	first, second := w.Outcome(3, 0).Worker, w.Outcome(4, 0).Worker
	if w.Outcome(1, 0).Worker == w.Outcome(2, 0).Worker || first == second {
		t.Errorf("workers %d, %d; then %d and %d: want one of each pair on each node", w.Outcome(1, 0).Worker,
			w.Outcome(2, 0).Worker, first, second)
	}
}
