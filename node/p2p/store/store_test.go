package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	ds "github.com/ipfs/go-datastore"
	"go.etcd.io/bbolt"
	"go.uber.org/goleak"

	"skep/grid"
	"skep/internal/crash"
)

func TestMain(m *testing.M) {
	crash.Main(map[string]func(string) error{"store": script, "convert": convertScript})
	if dir := os.Getenv(childEnv); dir != "" {
		child(dir)
		return
	}
	crash.InMemory()
	// If bbolt finds several damages it panics at the first and sends the others to nobody.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("go.etcd.io/bbolt.(*DB).freepages.func2"))
}

func open(t testing.TB, dir string) *Store {
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// task returns the n-th of some records that differ in key and size.
func task(n uint32) grid.Record {
	a := grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: grid.NodeID{1}}, Index: n}, Attempt: grid.Attempt{N: 1}}
	return grid.Record{Kind: grid.RecEntry,
		Entry: grid.EntryRecord{TaskRecord: grid.TaskRecord{ID: a, State: grid.Ended, Placed: int64(n),
			Result: &grid.Result{Cause: grid.Exited, Error: strings.Repeat("e", int(n%97))}}}}
}

func load(t *testing.T, s *Store) (all []grid.Record) {
	if err := s.Load(func(r *grid.Record) error { all = append(all, *r); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestCommitAndLoad(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	s := open(t, dir)
	var batch []grid.Record
	for n := range uint32(300) { // more than fits into the reused buffer
		batch = append(batch, task(n))
	}
	batch[7].Entry.Result.Outputs = []grid.File{{Path: strings.Repeat("p", 70_000), Blob: grid.BlobID{1}}}
	if err := s.Commit(batch); err != nil {
		t.Fatal(err)
	}
	gone, newer := task(5), task(6)
	gone.Delete = true
	newer.Entry.ID.N, newer.Entry.Lost = 2, 1
	later := []grid.Record{gone, newer, {Kind: grid.RecClass, Class: grid.ClassRecord{Class: "c", Mean: 2}}}
	if err := s.Commit(later); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	want := append(append([]grid.Record{later[2]}, batch[:5]...), newer)
	want = append(want, batch[7:]...)
	if d := cmp.Diff(want, load(t, open(t, dir))); d != "" {
		t.Error(d)
	}
}

// The last record of a key in a batch wins.
func TestLastWriteOfABatchWins(t *testing.T) {
	s := open(t, t.TempDir())
	gone := task(1)
	gone.Delete = true
	if err := s.Commit([]grid.Record{task(1), gone, task(2), gone, task(1)}); err != nil {
		t.Fatal(err)
	}
	if n := len(load(t, s)); n != 2 {
		t.Errorf("%d records", n)
	}
}

// A deletion of an entry may say that so many that follow go too, where there are any: also such as the same
// transaction has written, and none of another job or kind.
func TestEntriesAreDeletedTogether(t *testing.T) {
	s := open(t, t.TempDir())
	jobs := [2]grid.JobID{{Nonce: [10]byte{1}}, {Nonce: [10]byte{2}}}
	entry := func(j grid.JobID, i, further uint32) grid.Record {
		e := grid.EntryRecord{Epoch: 1, Further: further}
		e.ID.Task, e.State = grid.TaskID{Job: j, Index: i}, grid.Ended
		e.Result = &grid.Result{Cause: grid.Exited}
		return grid.Record{Kind: grid.RecEntry, Entry: e, Delete: further > 0}
	}
	var first, second []grid.Record
	for i := range uint32(300) {
		for _, j := range jobs {
			if r := entry(j, i, 0); i%2 == 0 {
				first = append(first, r)
			} else {
				second = append(second, r)
			}
		}
	}
	if err := s.Commit(first); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(append(second, entry(jobs[0], 10, 280))); err != nil {
		t.Fatal(err)
	}
	left := map[grid.JobID][]uint32{}
	if err := s.Load(func(r *grid.Record) error {
		left[r.Entry.ID.Task.Job] = append(left[r.Entry.ID.Task.Job], r.Entry.ID.Task.Index)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if l := left[jobs[0]]; len(l) != 19 || l[9] != 9 || l[10] != 291 || len(left[jobs[1]]) != 300 {
		t.Errorf("%v are left of one job, %d of the other: want 0 to 9, 291 to 299, and 300", l, len(left[jobs[1]]))
	}
}

func TestBadRecordSavesNothing(t *testing.T) {
	s := open(t, t.TempDir())
	if err := s.Commit([]grid.Record{task(1), {Kind: 77}}); err == nil {
		t.Fatal("a record of no kind was saved")
	}
	if n := len(load(t, s)); n != 0 {
		t.Errorf("%d records of a failed batch", n)
	}
	stop := errors.New("stop")
	if err := s.Commit([]grid.Record{task(1), task(2)}); err != nil {
		t.Fatal(err)
	}
	if err := s.Load(func(*grid.Record) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
}

func TestNextBoot(t *testing.T) {
	dir := t.TempDir()
	for want := uint64(1); want < 4; want++ {
		s := open(t, dir)
		if n, err := s.NextBoot(grid.NodeID{1}); n != want || err != nil {
			t.Errorf("%d, %v, want %d", n, err, want)
		}
		s.Close()
	}
}

func TestNewerAndDamagedRecords(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	put := func(value []byte) {
		err := s.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(recordBucket).Put([]byte{4, 'c'}, value) })
		if err != nil {
			t.Fatal(err)
		}
	}
	put([]byte{9, 1})
	wantError(t, s.Load(func(*grid.Record) error { return nil }), ErrNewer, dir, "9")
	put([]byte{1, 0xff})
	wantError(t, s.Load(func(*grid.Record) error { return nil }), ErrDamaged, dir, "record of kind 4")
}

// Other data in the file is not loaded as records, and records are not in the datastore.
func TestDatastoreIsSeparate(t *testing.T) {
	s := open(t, t.TempDir())
	ctx := context.Background()
	if err := s.Datastore().Put(ctx, ds.NewKey("/peers/a"), []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit([]grid.Record{task(1)}); err != nil {
		t.Fatal(err)
	}
	if err := s.Datastore().Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(load(t, s)); n != 1 {
		t.Errorf("%d records", n)
	}
	if v, err := s.Datastore().Get(ctx, ds.NewKey("/peers/a")); string(v) != "x" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
}

func BenchmarkCommit(b *testing.B) {
	for _, n := range []int{1, 32} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := open(b, b.TempDir())
			batch := make([]grid.Record, n)
			next := uint32(0)
			for b.Loop() {
				for i := range batch {
					batch[i] = task(next % 100_000)
					next++
				}
				if err := s.Commit(batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(next)/b.Elapsed().Seconds(), "records/s")
		})
	}
}
