package p2p

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
	"skep/node/p2p/disk"
	"skep/node/p2p/internal/rig"
)

// endOf returns a task's result as a node knows it; nil = it has not ended.
func (m *member) endOf(id grid.JobID) (r *grid.Result) {
	m.Read(context.Background(), func(n *node.Node, _ grid.Time) {
		if v, ok := n.Task(grid.TaskID{Job: id}); ok && v.State == grid.Ended {
			r = v.Result
		}
	})
	return r
}

// A majority has the inputs when the submission is acknowledged, and the outputs when the task's end is visible.
// They are not evicted by other files, also after a restart, and are removed with the job.
func TestDepositsAreWithAMajority(t *testing.T) {
	t.Parallel()
	a, b, c := openReplicated3(t, 2*time.Second)
	in := a.put("in", noiseOf(1, 300_000), false)
	id := a.job(1)
	s := rig.Sh("cat in in; cp in out; sleep 0.1")
	s.Inputs, s.Outputs = []grid.File{in}, []string{"out"}
	count := func(f grid.File) (n int) {
		for _, m := range []*member{a, b, c} {
			if m.Blobs().Has(f.Blob) {
				n++
			}
		}
		return n
	}
	if err := a.Submit(context.Background(), id, s); err != nil {
		t.Fatal(err)
	}
	if count(in) < 2 {
		t.Error("the submission is acknowledged, and its input is at its origin alone")
	}
	rig.Await(t, "the task's end", func() bool { return a.endOf(id) != nil })
	r := a.endOf(id)
	left := r.Blobs(nil)
	if len(left) != 2 || r.Error != "" {
		t.Fatalf("it left %v, %q", left, r.Error)
	}
	for _, f := range left {
		if count(f) < 2 {
			t.Error("the task has ended, and what it left is with one node alone")
		}
	}
	b.close()
	again := openMember(t, b.cfg.DataDir, func(c *Config) {
		c.newNode, c.Node, c.CacheSize = nil, node.Defaults(), 2_000_000
	}, a.token())
	rig.Await(t, "the member that was restarted has all of it", func() bool {
		return again.hasBlob(in) && again.hasBlob(left[0]) && again.hasBlob(left[1]) && again.endOf(id) != nil &&
			again.heldRecords(id) == 2 // only then does it answer for what it has
	})
	for i := range byte(6) { // more than fits
		if _, _, err := again.Blobs().Put(t.Context(), bytes.NewReader(noiseOf(10+uint64(i), 400_000)), grid.MiB,
			false); err != nil {
			t.Fatal(err)
		}
	}
	if !again.hasBlob(in) || !again.hasBlob(left[0]) {
		t.Error("what a member keeps for a job gave way to other files")
	}
}

// heldRecords returns how many records on disk say that the member keeps files: of the job's inputs, and of results.
func (m *member) heldRecords(id grid.JobID) (n int) {
	if err := m.store.Load(func(r *grid.Record) error {
		if r.Kind == grid.RecRegister && r.Register.ID == id && r.Register.Held ||
			r.Kind == grid.RecEntry && r.Entry.ID.Task.Job == id && r.Entry.Held {
			n++
		}
		return nil
	}); err != nil {
		m.t.Error(err)
	}
	return n
}

// Deposits leave the disk's reserve.
func TestDepositsLeaveADiskReserve(t *testing.T) {
	a, b := openPair(t)
	free, err := disk.Free(b.cfg.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	small := openMember(t, filepath.Join(t.TempDir(), "small"), func(c *Config) { c.DiskLow = free + 100*grid.GiB },
		a.token(), b.token())
	waitUp(t, small, b)
	f := []grid.File{b.put("x", noiseOf(8, 60_000), false)}
	id := grid.AttemptID{Task: grid.TaskID{Job: b.job(1)}}
	small.do(func(fx *grid.Effects) {
		fx.Fetches = append(fx.Fetches, grid.Fetch{Attempt: id, From: b.self, Files: f, Deposit: true})
	})
	rig.Await(t, "the fetch ends", func() bool { return small.fake.count(grid.EvFetched) == 1 })
	if ev, _ := small.fake.find(grid.EvFetched, nil); !ev.Deposit || !strings.Contains(ev.Err, "reserve") ||
		small.hasBlob(f[0]) {
		t.Errorf("it was copied onto a disk without room: %+v", ev)
	}
}
