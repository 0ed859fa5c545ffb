package runner

import (
	"slices"
	"testing"

	"skep/grid"
)

// A rank knows its number, how the work is divided, and how the attempt had divided it whose checkpoint it begins from:
// that may have had more or fewer ranks.
func TestVariablesOfARank(t *testing.T) {
	spec := &grid.JobSpec{Count: 4}
	spec.Gang = grid.Gang{Ranks: 4, Min: 2}
	s := grid.Start{Spec: spec, Local: 1, Places: []grid.RankPlace{{Ranks: 1, Shares: []uint32{5}},
		{Ranks: 2, Shares: []uint32{3, 1}}}}
	s.Attempt.Task.Index, s.Attempt.Attempt = 2, spec.Gang.After(grid.Attempt{Epoch: 1}, 3)
	want := []string{"RANK=2", "WORLD_SIZE=3", "LOCAL_RANK=1", "SKEP_SHARES=5,3,1"}
	if got := rankVariables(s); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	s.Before.Ranks = 2
	want = append(want, "SKEP_CHECKPOINT_RANKS=2")
	if got := rankVariables(s); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	s.Before.Shares = []uint32{0, 9}
	want = append(want, "SKEP_CHECKPOINT_SHARES=0,9")
	if got := rankVariables(s); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := rankVariables(grid.Start{Spec: &grid.JobSpec{Count: 1}}); got != nil {
		t.Errorf("of a task that is no rank: %q", got)
	}
}
