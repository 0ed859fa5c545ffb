package api

import (
	"testing"
	"time"

	"skep/grid"
	"skep/node"
)

// It is said of a task that its deadline cannot be met as long as it waits, and if that has come true.
func TestTooLate(t *testing.T) {
	late := grid.Trace{At: grid.Time(time.Second), What: grid.TraceWait, Refusal: grid.Refusal{Why: grid.WhyDeadline}}
	chosen := grid.Trace{At: grid.Time(2 * time.Second), What: grid.TraceChosen}
	ended := func(cause grid.Cause) node.TaskView {
		return node.TaskView{State: grid.Ended, Result: &grid.Result{Cause: cause}, Traces: []grid.Trace{late}}
	}
	for _, x := range []struct {
		name string
		task node.TaskView
		want bool
	}{
		{"it waits at its worker", node.TaskView{State: grid.Placed, Traces: []grid.Trace{chosen, late}}, true},
		{"it has a worker again", node.TaskView{State: grid.Placed, Traces: []grid.Trace{late, chosen}}, false},
		{"it runs after all", node.TaskView{State: grid.Placed, Runs: true, Traces: []grid.Trace{late}}, false},
		{"it ended in time", ended(grid.Exited), false},
		{"it ended too late", ended(grid.Missed), true},
		{"it was cancelled", ended(grid.Cancelled), false},
	} {
		if got := tooLateOf(&x.task, grid.Wall{}); (got != nil) != x.want {
			t.Errorf("%s: %v, want %t", x.name, got, x.want)
		}
	}
}
