package p2p

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skep/grid"
	"skep/node"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/store"
)

// A worker of the last version has attempts of a job that its owner alone keeps, with no members in their records. It
// reports them to that owner: a result counts, what waited runs as the same attempt, and what ran is placed again.
func TestAttemptsOfTheLastVersionAtAnotherNode(t *testing.T) {
	a, b := newFormerNode(t, "a"), newFormerNode(t, "b")
	spec := rig.Sh("echo task $SKEP_INDEX")
	spec.Count, spec.Retries = 4, 2
	j := a.job(1, spec, taskAt(grid.Placed, b.self, 1, nil), taskAt(grid.Placed, b.self, 2, nil),
		taskAt(grid.Placed, b.self, 3, nil), taskAt(grid.Offered, b.self, 4, nil))
	b.accepted(j, 0, grid.WorkFinished, exited(5, "from before\n"))
	b.accepted(j, 1, grid.WorkQueued, nil)
	b.accepted(j, 2, grid.WorkRunning, nil)
	a.write()
	b.write()
	owner := openReal(t, a.dir)
	worker := openReal(t, b.dir, owner.token())
	if c := worker.store.Converted(); c == nil || c.Jobs != 0 {
		t.Fatalf("the worker's database: %+v", c)
	}
	rig.Await(t, "the end of the job", func() bool { return owner.view(j.ID).Ended == 4 })
	type ended struct {
		Attempt uint32
		Exit    int32
		Out     string
	}
	want := []ended{{1, 5, "from before\n"}, {2, 0, "task 1\n"}, {4, 0, "task 2\n"}, {5, 0, "task 3\n"}}
	var got []ended
	for i := range uint32(4) {
		task := grid.TaskID{Job: j.ID, Index: i}
		v := owner.task(task)
		var out syncBuffer
		if err := owner.Output(t.Context(), &out, task, false, 0, false); err != nil {
			t.Error(err)
		}
		got = append(got, ended{v.ID.N, v.Result.Exit, out.String()})
		if i < 2 && v.Worker != b.self {
			t.Errorf("task %d ran at %s: want the worker that had it", i, v.Worker.Short())
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// The copy of a converted database stays until the node is stopped in order: not after a start that failed, and not
// where records could not be saved.
func TestCopyStays(t *testing.T) {
	f := newFormerNode(t, "a")
	f.job(1, rig.Sh("echo"), taskAt(grid.Ended, f.self, 1, exited(0, "")))
	f.write()
	copied := filepath.Join(f.dir, store.CopyFile)
	there := func(when string) {
		t.Helper()
		if _, err := os.Stat(copied); err != nil {
			t.Fatalf("%s: %v", when, err)
		}
	}
	_, err := tryOpenMember(t, f.dir, func(c *Config) {
		c.newNode, c.Node = nil, node.Defaults()
		c.Node.Policy = "none such"
	})
	if err == nil || !strings.Contains(err.Error(), "none such") {
		t.Fatalf("error %v: want one about the policy", err)
	}
	there("after a start that failed")

	failed := make(chan error, 1)
	m := openMember(t, f.dir, func(c *Config) {
		c.newNode = nil
		c.Fatal = func(err error) { failed <- err }
	})
	if m.store.Converted() != nil || m.view(m.job(1)).Ended != 1 {
		t.Errorf("converted %+v, job %+v", m.store.Converted(), m.view(m.job(1)))
	}
	m.store.Close()
	if err := m.Submit(t.Context(), m.job(2), rig.Sh("echo")); err == nil {
		t.Error("a job was accepted that could not be saved")
	}
	<-failed
	m.close()
	there("where records could not be saved")

	openReal(t, f.dir).close()
	if _, err := os.Stat(copied); !os.IsNotExist(err) {
		t.Errorf("after it was stopped in order: %v", err)
	}
}
