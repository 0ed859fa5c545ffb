package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	ds "github.com/ipfs/go-datastore"
	"go.etcd.io/bbolt"

	"skep/grid"
	"skep/internal/format1"
)

var legacyOwner = grid.NodeID{1}

func legacyID(n byte) grid.JobID { return grid.JobID{Origin: legacyOwner, Nonce: [10]byte{n}} }

// legacyJob returns the n-th of some jobs that their origin alone keeps, of some tasks in all states.
func legacyJob(n byte, tasks uint32) format1.Job {
	j := format1.Job{ID: legacyID(n), Submitted: int64(n) + 1, Cancelled: n%3 == 1,
		Spec: &grid.JobSpec{Name: fmt.Sprint("job ", n), Engine: grid.EngineProcess, Count: tasks + 1,
			Command: []string{"./simulate", "--seed", "7"}, Inputs: []grid.File{{Path: "in", Blob: grid.BlobID{n}, Size: 3}}}}
	for i := range tasks {
		t := grid.TaskRecord{Worker: grid.NodeID{byte(i)}, Lost: int32(i % 3), Placed: int64(i)}
		t.ID = grid.AttemptID{Task: grid.TaskID{Job: j.ID, Index: i}, Attempt: grid.Attempt{Epoch: 1, N: i + 1}}
		t.State = grid.Pending + grid.TaskState(i)%(grid.Ended-grid.Pending+1)
		switch t.State {
		case grid.Ended:
			t.Began, t.Done = 5, 6
			t.Result = &grid.Result{Cause: grid.Exited, Exit: int32(i % 2), Error: strings.Repeat("e", int(i%97)),
				Outputs: []grid.File{{Path: "out", Blob: grid.BlobID{byte(i)}, Size: 9}}}
		case grid.Placed:
			t.Backup = &grid.BackupRecord{Attempt: grid.Attempt{Epoch: 1, N: i + 2}, Worker: grid.NodeID{7}}
		}
		j.Tasks = append(j.Tasks, t)
	}
	return j
}

// unchangedRecords returns records of the kinds that both formats have, in the order of their keys.
func unchangedRecords() []grid.Record {
	other := grid.JobID{Origin: grid.NodeID{2}, Nonce: [10]byte{9}}
	spec := legacyJob(0, 3).Spec
	work := grid.WorkRecord{Spec: spec, Lease: 1e9, State: grid.WorkQueued}
	work.ID = grid.AttemptID{Task: grid.TaskID{Job: other}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
	register := grid.RegisterRecord{ID: other, Spec: spec, Promised: 2, Epoch: 1, Owner: grid.NodeID{2}}
	register.Members = []grid.NodeID{{2}, legacyOwner, {3}}
	entry := grid.EntryRecord{Epoch: 1, Committed: true}
	entry.ID.Task, entry.State, entry.Result = grid.TaskID{Job: other}, grid.Ended, &grid.Result{Cause: grid.Exited}
	return []grid.Record{
		{Kind: grid.RecWork, Work: work},
		{Kind: grid.RecClass, Class: grid.ClassRecord{Class: "c", Mean: 2}},
		{Kind: grid.RecRegister, Register: register},
		{Kind: grid.RecEntry, Entry: entry},
	}
}

// convertedRecords returns what jobs become, and the others, in the order of their keys.
func convertedRecords(jobs []format1.Job) []grid.Record {
	others := unchangedRecords()
	all := others[:2:2]
	for _, j := range jobs {
		all = append(all, grid.Record{Kind: grid.RecRegister, Register: grid.SoleRegister(j.ID, j.Spec, j.Submitted)})
	}
	all = append(all, others[2])
	for _, j := range jobs {
		for _, t := range j.Tasks {
			all = append(all, grid.Record{Kind: grid.RecEntry, Entry: grid.SoleEntry(&t)})
		}
		if j.Cancelled {
			t := grid.TaskRecord{State: grid.Ended}
			t.ID.Task = grid.TaskID{Job: j.ID, Index: j.Spec.Count}
			all = append(all, grid.Record{Kind: grid.RecEntry, Entry: grid.SoleEntry(&t)})
		}
	}
	return append(all, others[3])
}

// dump returns all that is in a database, whatever its format.
func dump(path string) (state, error) {
	m := state{}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	return m, db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(k, v []byte) error {
				m[fmt.Sprintf("%s %x", name, k)] = string(v)
				return nil
			})
		})
	})
}

func mustDump(t *testing.T, path string) state {
	t.Helper()
	m, err := dump(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func writeFormat1(t testing.TB, dir string, jobs ...format1.Job) {
	t.Helper()
	if err := format1.Write(filepath.Join(dir, File), legacyOwner, 4, jobs, unchangedRecords()...); err != nil {
		t.Fatal(err)
	}
}

// Each job of format 1 has a register and each of its tasks an entry; what else the database has stays. What it was is
// in the copy, until that is removed, and is converted once.
func TestConvert(t *testing.T) {
	dir := t.TempDir()
	jobs := []format1.Job{legacyJob(1, 40), legacyJob(2, 0), legacyJob(3, 700)}
	writeFormat1(t, dir, jobs...)
	before := mustDump(t, filepath.Join(dir, File))
	s := open(t, dir)
	c := s.Converted()
	if c == nil || c.Jobs != 3 || c.Tasks != 740 || c.Dropped != 0 || c.Copy != filepath.Join(dir, CopyFile) {
		t.Fatalf("converted %+v", c)
	}
	if d := cmp.Diff(convertedRecords(jobs), load(t, s)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(before, mustDump(t, c.Copy)); d != "" {
		t.Error("the copy differs:", d)
	}
	if owner, err := s.Owner(); owner != legacyOwner || s.boots() != 4 || err != nil {
		t.Errorf("it belongs to %v after %d starts, %v", owner, s.boots(), err)
	}
	if err := s.Datastore().Put(context.Background(), ds.NewKey("/a"), []byte("b")); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s = open(t, dir)
	if c := s.Converted(); c != nil {
		t.Errorf("converted again: %+v", c)
	}
	if d := cmp.Diff(convertedRecords(jobs), load(t, s)); d != "" {
		t.Error(d)
	}
	for range 2 {
		if err := RemoveCopy(dir); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(c.Copy); !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	}
}

// A new database has today's format: there is nothing to convert, and no copy.
func TestNewDatabaseIsNotConverted(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if s.Converted() != nil {
		t.Errorf("converted %+v", s.Converted())
	}
	s.Close()
	got, now := mustDump(t, filepath.Join(dir, File)), string(binary.BigEndian.AppendUint64(nil, format))
	if got["meta "+fmt.Sprintf("%x", formatKey)] != now {
		t.Errorf("it holds %q", got)
	}
	if err := RemoveCopy(dir); err != nil {
		t.Error(err)
	}
}

// An empty database of format 1 becomes one of today's.
func TestConvertEmpty(t *testing.T) {
	dir := t.TempDir()
	if err := format1.Write(filepath.Join(dir, File), legacyOwner, 0, nil); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	if c := s.Converted(); c == nil || c.Jobs+c.Tasks+c.Dropped != 0 || len(load(t, s)) != 0 {
		t.Errorf("converted %+v", c)
	}
}

// No entry is without a register, and none is taken for a job's cancellation.
func TestConvertDropsTasksOfNoJob(t *testing.T) {
	dir := t.TempDir()
	job, orphans := legacyJob(2, 5), legacyJob(3, 4)
	want := convertedRecords([]format1.Job{job})
	beyond := job.Tasks[0]
	beyond.ID.Task.Index = job.Spec.Count
	job.Tasks = append(job.Tasks, beyond)
	orphans.Spec = nil
	writeFormat1(t, dir, job, orphans)
	s := open(t, dir)
	if c := s.Converted(); c == nil || c.Jobs != 1 || c.Tasks != 5 || c.Dropped != 5 {
		t.Errorf("converted %+v", c)
	}
	if d := cmp.Diff(want, load(t, s)); d != "" {
		t.Error(d)
	}
}

// A copy of an earlier conversion that was not carried out is replaced: the old version may have run in between.
func TestConvertReplacesAnOldCopy(t *testing.T) {
	dir := t.TempDir()
	writeFormat1(t, dir, legacyJob(1, 3))
	before := mustDump(t, filepath.Join(dir, File))
	for _, name := range []string{CopyFile, CopyFile + ".new"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Repeat("old", 50_000)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open(t, dir)
	if d := cmp.Diff(before, mustDump(t, filepath.Join(dir, CopyFile))); d != "" {
		t.Error(d)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.new")); len(left) > 0 {
		t.Errorf("it leaves %v", left)
	}
}

// A record that cannot be read stops the conversion before anything has changed.
func TestConvertDamagedRecord(t *testing.T) {
	for value, want := range map[string]error{"\x01\xff": ErrDamaged, "\x09": ErrNewer, "": ErrDamaged} {
		dir := t.TempDir()
		path := filepath.Join(dir, File)
		writeFormat1(t, dir, legacyJob(1, 300))
		db, err := bbolt.Open(path, 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = db.Update(func(tx *bbolt.Tx) error {
			b := tx.Bucket(recordBucket)
			cursor := b.Cursor()
			cursor.Seek([]byte{3}) // past the last task
			key, _ := cursor.Prev()
			return b.Put(key, []byte(value))
		})
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		before := mustDump(t, path)
		_, err = Open(dir)
		wantError(t, err, want, dir, "convert skep.db to format 4")
		if d := cmp.Diff(before, mustDump(t, path)); d != "" {
			t.Error(d)
		}
		if names, _ := filepath.Glob(filepath.Join(dir, "*")); len(names) != 1 {
			t.Errorf("it leaves %v", names)
		}
	}
}
