package p2p

import (
	"path/filepath"
	"testing"
	"time"

	"skep/grid"
	"skep/node/p2p/internal/rig"
)

func (m *member) savedClasses() (names []string) {
	m.store.Load(func(r *grid.Record) error {
		if r.Kind == grid.RecClass {
			names = append(names, r.Class.Class)
		}
		return nil
	})
	return names
}

// saveDeferred takes a step with a record on which no effect depends.
func (m *member) saveDeferred(class string, more func(*grid.Effects)) {
	m.do(func(fx *grid.Effects) {
		rec := fx.Save(grid.RecClass)
		rec.Later, rec.Class.Class = true, class
		if more != nil {
			more(fx)
		}
	})
}

// Deferred records delay no effect, and are on disk soon without any other step, with the next step that commits,
// and when the node has left.
func TestDeferredRecordsAreSaved(t *testing.T) {
	fatal := make(chan error, 1)
	a := openMember(t, filepath.Join(t.TempDir(), "a"), func(c *Config) { c.Fatal = func(err error) { fatal <- err } })
	b := openMember(t, filepath.Join(t.TempDir(), "b"), nil, a.token())
	waitUp(t, a, b)
	a.saveDeferred("first", nil)
	rig.Await(t, "it is on disk", func() bool { return len(a.savedClasses()) == 1 })
	a.saveDeferred("second", nil)
	a.do(func(fx *grid.Effects) { fx.Save(grid.RecClass).Class.Class = "third" })
	a.inbox.Wait()
	if names := a.savedClasses(); len(names) != 3 {
		t.Errorf("on disk are %v: want what was saved before, too", names)
	}
	b.saveDeferred("last", nil)
	b.close()
	again := openMember(t, b.cfg.DataDir, nil)
	if old := again.fake.old; len(old) != 1 || old[0].Class.Class != "last" {
		t.Errorf("the node has left, and finds %d records", len(old))
	}
	again.close()

	b = openMember(t, b.cfg.DataDir, nil, a.token())
	waitUp(t, a, b)
	a.do(func(fx *grid.Effects) { // a record that cannot be saved
		m := fx.Send(b.self, grid.KindAccept)
		m.Attempts = append(m.Attempts, grid.AttemptID{Task: grid.TaskID{Job: b.job(1)},
			Attempt: grid.Attempt{Epoch: 1, N: 1}})
		fx.Save(0).Later = true
	})
	rig.Await(t, "the message leaves", func() bool { return b.fake.count(grid.EvMessage) == 1 })
	select {
	case <-fatal:
	case <-time.After(rig.Timeout):
		t.Error("a failed write does not end the node")
	}
}
