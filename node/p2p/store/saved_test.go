package store

import (
	"testing"

	"skep/grid"
)

// Each commit has a higher number than all before it, over restarts in order, kills, full logs and commits that go to
// the database; and what is found at a start is the number of the last commit. So an earlier state of the folder is
// found with a lower one than was told.
func TestCommitsAreNumbered(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	last := s.Saved()
	commit := func(records ...grid.Record) {
		t.Helper()
		if err := s.Commit(records); err != nil {
			t.Fatal(err)
		}
		if s.Saved() <= last {
			t.Fatalf("commit %d follows %d", s.Saved(), last)
		}
		last = s.Saved()
	}
	var before uint64
	var snapshot map[string][]byte
	var huge []grid.Record
	for n := range uint32(4000) {
		huge = append(huge, task(n))
	}
	for round := range uint32(4) {
		for n := range uint32(1500) { // more than the log holds
			commit(task(round*2000 + n%100))
		}
		commit(huge...)
		commit(task(1))
		if round%2 == 0 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, dir)
			if s.FoundSaved() < last || s.Saved() < last {
				t.Fatalf("round %d: stopped in order after commit %d, found %d", round, last, s.FoundSaved())
			}
			last = s.Saved()
			continue
		}
		commit(task(2))
		dir = restored(t, killed(t, dir))
		s = open(t, dir)
		if s.FoundSaved() != last {
			t.Fatalf("round %d: killed after commit %d, found %d", round, last, s.FoundSaved())
		}
		commit(task(3))
		before, snapshot = last, killed(t, dir)
		commit(task(4))
	}
	if old := open(t, restored(t, snapshot)); old.FoundSaved() != before || before >= last {
		t.Errorf("put back to commit %d of %d, found %d", before, last, old.FoundSaved())
	}
}
