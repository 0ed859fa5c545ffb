package sim

import (
	"testing"
	"time"

	"skep/grid"
	"skep/node"
)

// The world fails a run in which something starts after a cancellation was acknowledged (checkStart); these scenarios
// make it likely.

// queuedJob is a job with long queues at every node, which is cancelled.
func queuedJob(cancel time.Duration) Config {
	c := lab()
	c.Nodes = 3
	c.Node = func(_ int, c *node.Config) { c.Capacity.CPU, c.Policy = grid.CPU, "mct" }
	c.Machine.Rate = func(string, int) float64 { return 0.2 }
	c.Work = []Submission{{At: 5 * time.Second, Node: 0, Spec: spec("a", 60, grid.CPU), Cancel: cancel}}
	return c
}

// A restarted node started its queued tasks before it heard from the origin.
func TestNothingStartsOnARestartedNodeAfterCancel(t *testing.T) {
	c := queuedJob(10 * time.Second)
	c.Faults = []Fault{{At: 9 * time.Second, Kind: Crash, Nodes: []int{1}},
		{At: 20 * time.Second, Kind: Restart, Nodes: []int{1}}}
	play(t, c, func(t *testing.T, w *World, r Report) { cancelled(t, w) })
}

// A node that was cut off continued with its queue.
func TestNothingStartsOnACutOffNodeAfterCancel(t *testing.T) {
	c := queuedJob(10 * time.Second)
	c.Faults = []Fault{{At: 9 * time.Second, Kind: Cut, Nodes: []int{1}}, {At: time.Minute, Kind: Heal}}
	play(t, c, func(t *testing.T, w *World, r Report) { cancelled(t, w) })
}

// An owner without a majority showed a job as cancelled, and as running when another member had taken it over. At the
// end it showed the job as cancelled again, though all tasks were done.
func TestCancelledIsSaidWhenItIsFinal(t *testing.T) {
	for _, cancel := range []time.Duration{8, 12, 30} {
		c := replicated()
		c.Machine.Rate = func(string, int) float64 { return 0.1 }
		c.Work = []Submission{{At: 5 * time.Second, Node: 0, Spec: spec("a", 20, grid.CPU), Cancel: cancel * time.Second}}
		c.Faults = []Fault{{At: 10 * time.Second, Kind: Cut, Nodes: []int{0}}, {At: 2 * time.Minute, Kind: Heal}}
		play(t, c, func(t *testing.T, w *World, r Report) {
			if err := w.RunUntil(w.Now() + time.Minute); err != nil {
				t.Fatal(err)
			}
			said := map[bool]int{}
			for i := range w.hosts {
				if v, ok := w.hosts[i].member.(*node.Node).Job(w.JobID(0)); ok {
					said[v.Cancelled]++
				}
			}
			if len(said) != 1 {
				t.Errorf("cancelled after %v: %d members say that the job is cancelled, %d that it is not", cancel*time.Second,
					said[true], said[false])
			}
		})
	}
}

func cancelled(t *testing.T, w *World) {
	t.Helper()
	if !w.books.Job(0).CancelAnswered {
		t.Error("the cancellation was never answered")
	}
	if o := w.Outcome(0, 59); o.Result.Cause != grid.Cancelled {
		t.Errorf("the last task: %v", o.Result.Cause)
	}
}
