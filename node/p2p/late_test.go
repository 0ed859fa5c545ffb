package p2p

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"skep/exec/process"
	"skep/grid"
)

// begins starts an attempt that must run before a time.
func (m *member) begins(id grid.AttemptID, spec *grid.JobSpec, until grid.Time) {
	m.do(func(fx *grid.Effects) {
		fx.Save(grid.RecWork).Work = grid.WorkRecord{ID: id, Spec: spec, State: grid.WorkRunning}
		fx.Starts = append(fx.Starts, grid.Start{Attempt: id, Spec: spec, Until: until})
	})
}

// copied returns the copies of an input in the folders of attempts.
func (m *member) copied(f grid.File) (files []os.FileInfo) {
	dirs, _ := os.ReadDir(m.tasks.dir)
	for _, d := range dirs {
		if info, err := os.Stat(filepath.Join(process.Work(filepath.Join(m.tasks.dir, d.Name())), f.Path)); err == nil {
			files = append(files, info)
		}
	}
	return files
}

// What comes to its start too late does not run, and the node hears so and can start it again. What was copied for it is
// still there: where copies took longer than an owner's word lasts, each start made new ones, and the task never ran.
func TestWhatIsLateIsNotStarted(t *testing.T) {
	a := begin(t, filepath.Join(t.TempDir(), "a"), nil)
	in := a.put("in", []byte("input"), false)
	spec := sh("exec sleep 60")
	spec.Inputs = []grid.File{in}
	id := grid.AttemptID{Task: grid.TaskID{Job: a.job(1)}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
	a.begins(id, spec, now())
	await(t, "the node hears that it was late", func() bool { return a.toy.count(grid.EvLate) == 1 })
	first := a.copied(in)
	if len(first) != 1 {
		t.Fatalf("%d copies of its input are kept", len(first))
	}
	a.begins(id, spec, now())
	await(t, "the node hears so of a prepared one too", func() bool { return a.toy.count(grid.EvLate) == 2 })
	if a.toy.count(grid.EvStarted) > 0 {
		t.Error("it ran")
	}
	a.begins(id, spec, now().Add(time.Hour))
	await(t, "it runs", func() bool { return a.toy.count(grid.EvStarted) == 1 })
	if c := a.copied(in); len(c) != 1 || !os.SameFile(c[0], first[0]) {
		t.Errorf("%d copies of its input: want the one that was made first", len(c))
	}
}

// What was prepared and waits for another start goes with its attempt.
func TestWhatIsLateAndDroppedLeavesNoFolder(t *testing.T) {
	for _, how := range []string{"stopped", "let go of"} {
		a := begin(t, filepath.Join(t.TempDir(), "a"), nil)
		id := grid.AttemptID{Task: grid.TaskID{Job: a.job(1)}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
		a.begins(id, sh("exec sleep 60"), now())
		await(t, "the node hears that it was late", func() bool { return a.toy.count(grid.EvLate) == 1 })
		a.do(func(fx *grid.Effects) {
			if how == "stopped" {
				fx.Stops = append(fx.Stops, grid.Stop{Attempt: id})
				return
			}
			r := fx.Save(grid.RecWork)
			r.Delete, r.Work.ID = true, id
		})
		await(t, how+": its folder is removed", func() bool {
			left, err := os.ReadDir(a.tasks.dir)
			return err == nil && len(left) == 0 && a.tasks.lookup(id) == nil
		})
		if a.toy.count(grid.EvStarted) > 0 {
			t.Errorf("%s: it ran", how)
		}
	}
}
