package view

import (
	"strings"
	"testing"
	"time"

	"skep/grid"
)

func TestJobsAreSortedBySubmission(t *testing.T) {
	id := func(n byte) grid.JobID { return grid.JobID{Nonce: [10]byte{n}} }
	jobs := []Job{{ID: id(3), Submitted: 2}, {ID: id(2), Submitted: 2}, {ID: id(9), Submitted: 1}}
	Sort(jobs)
	for i, want := range []byte{9, 2, 3} {
		if jobs[i].ID != id(want) {
			t.Errorf("job %d is %v, want %d", i, jobs[i].ID, want)
		}
	}
}

// What a job needs of its members is said by the feature that fewest nodes have.
func TestOlderVersionsAreNamedByWhatTheyLack(t *testing.T) {
	for _, c := range []struct {
		needs func(*grid.JobSpec)
		want  string
	}{
		{func(s *grid.JobSpec) { s.Capability[0] = 1 }, "nobody but its owner"},
		{func(s *grid.JobSpec) { s.After.Jobs = []grid.Dependency{{}} }, "waits for others"},
		{func(s *grid.JobSpec) { s.Gang.Ranks = 2 }, "a gang"},
		{func(s *grid.JobSpec) { s.Rules.Deadline.At = time.Second }, "deadline"},
		{func(s *grid.JobSpec) { s.Rules.OnFailure.Retry = 1 }, "run again"},
	} {
		var s grid.JobSpec
		c.needs(&s)
		if got := OlderVersions(&s); !strings.Contains(got, c.want) {
			t.Errorf("%q, want that it says %q", got, c.want)
		}
	}
}

func TestTooFewKeepers(t *testing.T) {
	if one := Underreplicated(1, 3, ""); !strings.Contains(one, "where 3 should") || !strings.Contains(one, "is lost if") {
		t.Errorf("of one: %q", one)
	}
	if two := Underreplicated(2, 3, " that x"); !strings.HasPrefix(two, "2 nodes") || !strings.HasSuffix(two, " that x") {
		t.Errorf("of two: %q", two)
	}
	full := FullMembers([]grid.NodeID{{1}, {2}})
	if !strings.Contains(full, grid.NodeID{1}.Short()+", "+grid.NodeID{2}.Short()) || FullMembers(nil) != "" {
		t.Errorf("full: %q, without any %q", full, FullMembers(nil))
	}
	if x := Unconfirmed(grid.JobID{}, 3, 0, full); !strings.Contains(x, "3 nodes") || !strings.HasSuffix(x, full) {
		t.Errorf("unconfirmed: %q", x)
	}
}
