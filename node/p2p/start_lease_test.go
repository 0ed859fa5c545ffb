package p2p

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"skep/exec/process"
	"skep/grid"
	"skep/node/p2p/clock"
	"skep/node/p2p/internal/rig"
)

// startBefore starts an attempt whose start lease ends at a time.
func (m *member) startBefore(id grid.AttemptID, spec *grid.JobSpec, until grid.Time) {
	m.do(func(fx *grid.Effects) {
		fx.Save(grid.RecWork).Work = grid.WorkRecord{ID: id, Spec: spec, State: grid.WorkRunning}
		fx.Starts = append(fx.Starts, grid.Start{Attempt: id, Spec: spec, Until: until})
	})
}

// inputCopies returns the copies of an input in the folders of attempts.
func (m *member) inputCopies(f grid.File) (files []os.FileInfo) {
	dirs, _ := os.ReadDir(m.workDir())
	for _, d := range dirs {
		if info, err := os.Stat(filepath.Join(process.Work(filepath.Join(m.workDir(), d.Name())), f.Path)); err == nil {
			files = append(files, info)
		}
	}
	return files
}

// An attempt whose start lease ran out while it was prepared is not started; the node is told so and can start it
// again. The prepared folder is reused. Regression: if copying took longer than a start lease, each start copied
// anew, and the task never ran.
func TestNoStartAfterTheStartLease(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	in := a.put("in", []byte("input"), false)
	spec := rig.Sh("exec sleep 60")
	spec.Inputs = []grid.File{in}
	id := grid.AttemptID{Task: grid.TaskID{Job: a.job(1)}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
	a.startBefore(id, spec, clock.Now())
	rig.Await(t, "the node hears that it was late", func() bool { return a.fake.count(grid.EvLate) == 1 })
	first := a.inputCopies(in)
	if len(first) != 1 {
		t.Fatalf("%d copies of its input are kept", len(first))
	}
	a.startBefore(id, spec, clock.Now())
	rig.Await(t, "the node hears so of a prepared one too", func() bool { return a.fake.count(grid.EvLate) == 2 })
	if a.fake.count(grid.EvStarted) > 0 {
		t.Error("it ran")
	}
	a.startBefore(id, spec, clock.Now().Add(time.Hour))
	rig.Await(t, "it runs", func() bool { return a.fake.count(grid.EvStarted) == 1 })
	if c := a.inputCopies(in); len(c) != 1 || !os.SameFile(c[0], first[0]) {
		t.Errorf("%d copies of its input: want the one that was made first", len(c))
	}
}

// A prepared folder that waits for another start is removed with its attempt.
func TestDroppedLateAttemptLeavesNoFolder(t *testing.T) {
	for _, how := range []string{"stopped", "let go of"} {
		a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
		id := grid.AttemptID{Task: grid.TaskID{Job: a.job(1)}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
		a.startBefore(id, rig.Sh("exec sleep 60"), clock.Now())
		rig.Await(t, "the node hears that it was late", func() bool { return a.fake.count(grid.EvLate) == 1 })
		a.do(func(fx *grid.Effects) {
			if how == "stopped" {
				fx.Stops = append(fx.Stops, grid.Stop{Attempt: id})
				return
			}
			r := fx.Save(grid.RecWork)
			r.Delete, r.Work.ID = true, id
		})
		rig.Await(t, how+": its folder is removed", func() bool {
			left, err := os.ReadDir(a.workDir())
			return err == nil && len(left) == 0
		})
		if a.fake.count(grid.EvStarted) > 0 {
			t.Errorf("%s: it ran", how)
		}
	}
}
