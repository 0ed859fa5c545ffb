package runner

import (
	"testing"

	"skep/grid"
	"skep/node/p2p/internal/rig"
)

// An attempt that was suspended before its process was there has returned to the queue: its next start is not
// suspended. Nobody would continue it.
func TestAStartIsNotSuspended(t *testing.T) {
	r, l := openRunner(t)
	spec := rig.Sh("sleep 1")
	r.RecordSaved(&grid.Record{Kind: grid.RecWork, Work: grid.WorkRecord{ID: attemptID(1), Spec: spec,
		State: grid.WorkQueued}})
	r.Suspend(grid.Suspend{Attempt: attemptID(1)})
	r.Start(grid.Start{Attempt: attemptID(1), Spec: spec})
	rig.Await(t, "it ends", func() bool { return l.count(grid.EvEnded) == 1 })
	if end := l.last(grid.EvEnded).Result; end == nil || !end.Succeeded() {
		t.Errorf("it ended with %+v", end)
	}
}
