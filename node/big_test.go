package node

import (
	"math"
	"testing"
	"time"

	"skep/grid"
)

// Letting the tasks of a waiting job go, or ending them, costs in proportion to their number: a hundred thousand, the
// most that a job may have, about ten times what ten thousand cost, where a square would be a hundred times as much.
// The best of a few tries counts, because a busy machine makes any single one slow.
func TestManyWaitingTasksAreLetGoInProportion(t *testing.T) {
	few, many := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for range 5 {
		few, many = min(few, letGo(t, grid.MaxCount/10)), min(many, letGo(t, grid.MaxCount))
		if many <= 30*few {
			return
		}
	}
	t.Errorf("%d were let go and cancelled in %v, a tenth of them in %v", grid.MaxCount, many, few)
}

// letGo lets a job of so many tasks wait for a node, brings that node, and cancels the job.
func letGo(t *testing.T, tasks int) time.Duration {
	t.Helper()
	r := newRig(t, nil)
	r.join(slowID, 1, "linux")
	windows := spec(func(s *grid.JobSpec) {
		s.Count, s.Wait, s.Needs.Labels = uint32(tasks), true, []grid.LabelNeed{{Key: "os", Values: []string{"windows"}}}
	})
	r.submit(jobID(1), windows)
	r.step(grid.Event{Kind: grid.EvPeerUp, Peer: fastID, RTT: time.Millisecond, Kinds: grid.AllKinds})
	r.n.standings = []*standing{{node: fastID, seen: trusted}}
	begin := time.Now()
	r.join(fastID, 1, "windows")
	if n := len(r.n.waiting) + len(r.n.again); n < tasks-r.n.cfg.Window || len(r.n.waiting) > r.n.cfg.Window {
		t.Fatalf("%d wait, %d are to be placed", len(r.n.waiting), len(r.n.again))
	}
	r.step(grid.Event{Kind: grid.EvCancel, Job: jobID(1)})
	took := time.Since(begin)
	if len(r.n.waiting)+len(r.n.again)+r.n.lives.len() != 0 {
		t.Error("some are left")
	}
	return took
}

// A job that waits for a node to deliver has one task that looks, not a hundred thousand.
func TestManyTasksOfAnUnprovenNodeWaitTogether(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "windows")
	r.submit(jobID(1), spec(func(s *grid.JobSpec) {
		s.Count, s.Needs.Labels = grid.MaxCount, []grid.LabelNeed{{Key: "os", Values: []string{"windows"}}}
	}))
	if offers := len(r.sent(grid.KindOffer)); offers != firstLeast || len(r.n.waiting) != 1 || r.n.lives.len() != firstLeast+1 {
		t.Fatalf("%d offers, %d wait, %d live", offers, len(r.n.waiting), r.n.lives.len())
	}
	for n := range 3 {
		id := grid.AttemptID{Task: grid.TaskID{Job: jobID(1), Index: uint32(n)}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
		r.about(fastID, grid.KindResult, id, exitZero)
	}
	if got, want := len(r.n.standing(fastID).due), r.n.cfg.Window; got < want {
		t.Errorf("%d attempts out after 3 results, want the window, %d", got, want)
	}
}
