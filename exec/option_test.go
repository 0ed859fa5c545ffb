package exec

import (
	"testing"
	"time"

	"skep/grid"
)

// Work that runs as an option has the needs of the option and the run time of its class divided by its speedup, also
// where other options of the same job wait.
func TestOptionsCountWithTheirNeedsAndSpeedups(t *testing.T) {
	s := &grid.JobSpec{Class: "c", Engine: grid.EngineProcess, Command: []string{"a"}, Count: 9}
	s.Needs.SetOptions([]grid.Option{{Resources: grid.Resources{CPU: 2 * grid.CPU}, Speedup: 4, Value: 1},
		{Resources: grid.Resources{CPU: grid.CPU}, Speedup: 1, Value: 1}})
	law := func(string) (float64, float64) { return 8, 0 }
	e := New(grid.Resources{CPU: 2 * grid.CPU})
	if fast, plain := e.MeanOf(0, "c", 4, law), e.Mean(0, "c", law); fast != 2 || plain != 8 {
		t.Errorf("expected %g s and %g s, want 2 and 8", fast, plain)
	}
	accept := func(index uint32, option uint8) *Work {
		id := grid.AttemptID{Task: grid.TaskID{Index: index}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
		o := &grid.Offer{ID: id, Spec: s, Class: "c", Lease: time.Minute, Option: option}
		return e.AcceptFrom(Owner{}, 0, id, o, true)
	}
	first, second, third := accept(0, 1), accept(1, 2), accept(2, 1)
	if first.Spec.Needs.CPU != 2*grid.CPU || second.Spec.Needs.CPU != grid.CPU || first.Spec != third.Spec ||
		first.Submitted() != s || second.Submitted() != s {
		t.Errorf("%v and %v, want the needs of their options, and one spec for each", first.Spec.Needs, second.Spec.Needs)
	}
	// all queue: two cores for 2 s twice, and one for 8 s, over two cores
	if wait := e.Wait(0, grid.Resources{CPU: 2 * grid.CPU}, law); wait != 2+8.0/2+2 {
		t.Errorf("a task waits %g s, want 8", wait)
	}
}
