package checkpoint

import (
	"fmt"
	"strings"
	"testing"

	"skep/grid"
)

// The checkpoints of jobs submitted here have a quota of their own: they are refused beyond it, whatever others have,
// and others' are not refused for them. A restart charges them again.
func TestOwnQuota(t *testing.T) {
	w := newWorld(t, 0)
	w.job.Spec.Count = 100
	w.s.cfg.Quota = 8 * limit // ownFactor
	kept := uint32(0)
	for ; kept < 20; kept++ {
		id := w.attempt(kept, 1, workerByte)
		w.report(id, grid.Checkpoint{Closed: []uint64{5}})
		w.report(id, grid.Checkpoint{Closed: []uint64{5}, Step: 5, Files: files(5, 90*grid.KiB, "f")})
		for _, f := range w.fx.Fetches {
			w.want("the disk keeps its reserve", f.Deposit, true)
		}
		if w.fetched("") == 0 {
			break
		}
	}
	w.want("kept", kept, 8)
	why := w.s.View(w.job.Spec, grid.TaskID{Job: grid.JobID{Origin: node(selfByte)}, Index: kept}).Why
	if !strings.Contains(why, "jobs submitted here have 0.8 of at most 0.8 MiB") {
		t.Errorf("why %q", why)
	}
	again := New(w.s.cfg)
	for _, r := range w.fx.Saves {
		again.Restore(r.Checkpoint, node(selfByte))
	}
	w.want("charged after a restart", again.charged[node(selfByte)], w.s.charged[node(selfByte)])
	w.want("charged", w.s.total, 8*98*grid.KiB)

	w.job.Leads, w.job.Owner, w.job.Members = false, node(otherByte), []grid.NodeID{node(otherByte), node(selfByte)}
	id := grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: node(otherByte)}}, Attempt: grid.Attempt{N: 1}}
	w.s.Keep(w.now, node(otherByte), id, &grid.Checkpoint{Step: 5, Files: files(5, 90*grid.KiB, "0/f")}, w, &w.fx)
	w.want("others'", w.fetched(""), 1)

	w.over = true
	w.s.Tick(w.now, w, &w.fx)
	w.want("when all is over", fmt.Sprint(w.s.total, len(w.s.charged), len(w.s.units)), "0 0 0")
}

// Where nothing is kept for others, jobs submitted here have their checkpoints all the same.
func TestOwnQuotaWithoutOneForOthers(t *testing.T) {
	w := newWorld(t, 0)
	w.s.cfg.Quota = 0
	w.keep(w.attempt(0, 1, workerByte), 5)
	w.want("kept", w.s.View(w.job.Spec, w.attempt(0, 1, workerByte).Task).Step, 5)
}

// What is refused leaves nothing behind.
func TestRefusedLeavesNothing(t *testing.T) {
	w, ask := newMember(t)
	w.want("refused", ask(otherByte, 0, 10, files(1, limit+1, "0/f")).Refusal.Why, grid.WhyRoom)
	w.want("units", fmt.Sprint(len(w.s.units), len(w.s.order), w.s.total), "0 0 0")
	for k := range w.fx.Wakes {
		t.Errorf("wakes for nothing: %v", w.fx.Wakes[k])
	}
}
