package node

import (
	"strings"
	"testing"
	"time"

	"skep/grid"
)

// A worker that cannot store an output reports the task as lost. No process of it is left, so its slot is free at once,
// and the task is placed again as after any loss.
func TestUnstorableOutputIsLost(t *testing.T) {
	r := newRig(t, nil)
	r.submit(jobID(1), spec(nil))
	id := r.fx.Starts[0].Attempt
	lost := &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep, Error: "output \"x\": the disk is full", Wall: time.Second}
	r.step(grid.Event{Kind: grid.EvEnded, Attempt: id, Result: lost})
	if len(r.fx.Starts) != 1 || r.n.worker.Exec().Stopping() != 0 {
		t.Errorf("starts %v, %d are being stopped: want its place on a machine of one core to be free for the next try",
			r.fx.Starts, r.n.worker.Exec().Stopping())
	}
	v, _ := r.n.Task(id.Task)
	if v.State == grid.Ended || v.Lost != 1 {
		t.Errorf("%+v: want it to be placed again", v)
	}
}

// The result of a task lost for good says why.
func TestTheLastLossSaysWhy(t *testing.T) {
	r := newRig(t, nil)
	s := spec(nil)
	s.Retries = 0
	r.submit(jobID(1), s)
	id := r.fx.Starts[0].Attempt
	r.step(grid.Event{Kind: grid.EvEnded, Attempt: id, Result: &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep,
		Error: "the disk is full"}})
	v, _ := r.n.Task(id.Task)
	if v.Result == nil || v.Result.Cause != grid.Lost || v.Result.Exit != grid.ExitSkep ||
		!strings.Contains(v.Result.Error, "the disk is full") {
		t.Errorf("%+v: want it to be lost for good, with the reason", v.Result)
	}
}
