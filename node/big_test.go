package node

import (
	"testing"
	"time"

	"skep/grid"
)

// Letting many tasks of a waiting job go, or ending them, costs in proportion to their number: of a hundred
// thousand, the most that a job may have, neither may hold the node up for longer than a lease.
func TestManyWaitingTasksAreLetGoInTime(t *testing.T) {
	r := newRig(t, nil)
	r.join(slowID, 1, "linux")
	windows := spec(func(s *grid.JobSpec) {
		s.Count, s.Wait, s.Needs.Labels = grid.MaxCount, true, []grid.LabelNeed{{Key: "os", Values: []string{"windows"}}}
	})
	r.submit(jobID(1), windows)
	r.step(grid.Event{Kind: grid.EvPeerUp, Peer: fastID, RTT: time.Millisecond, Kinds: grid.AllKinds})
	begin := time.Now()
	r.join(fastID, 1, "windows")
	if n := len(r.n.waiting) + len(r.n.again); n < grid.MaxCount-r.n.cfg.Window || len(r.n.waiting) > r.n.cfg.Window {
		t.Fatalf("%d wait, %d are to be placed", len(r.n.waiting), len(r.n.again))
	}
	r.step(grid.Event{Kind: grid.EvCancel, Job: jobID(1)})
	if d := time.Since(begin); d > r.n.cfg.Lease/2 {
		t.Errorf("they were let go and cancelled in %v", d)
	}
	if len(r.n.waiting)+len(r.n.again)+len(r.n.lives) != 0 {
		t.Error("some are left")
	}
}
