package node

import (
	"testing"

	"skep/grid"
)

// An attempt that its worker hands back has not started: that is no loss, and a task without retries is placed again.
func TestHandedBackAttemptIsNoLoss(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "linux")
	id := r.offered(jobID(1), spec(func(s *grid.JobSpec) { s.Retries = 0 }), fastID)
	r.deliverFor(fastID, grid.KindAccept, id, nil)
	r.deliver(fastID, grid.KindRefuse, func(m *grid.Message) {
		m.Attempts, m.Refusal = []grid.AttemptID{id}, grid.Refusal{Why: grid.WhyDrain}
	})
	if v := r.task(jobID(1)); v.Lost != 0 || v.State == grid.Ended || len(r.fx.Starts) != 1 {
		t.Fatalf("task %+v", v)
	}
}
