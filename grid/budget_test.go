package grid

import (
	"strings"
	"testing"
	"time"
)

func TestBudgetsAreChecked(t *testing.T) {
	for _, x := range []struct {
		b    Budget
		want string // "" = nothing is wrong
	}{
		{0, ""}, {1, ""}, {MaxBudget, ""}, {-1, "budget.node_seconds -1"}, {MaxBudget + 1, "budget.node_seconds 4611686019"},
	} {
		var p problems
		x.b.check(&p)
		if err := p.err(); (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%d: %v, want %q", x.b, err, x.want)
		}
	}
	if MaxBudget.Time() <= 0 || Budget(3).Time() != 3*time.Second {
		t.Errorf("the largest budget is %v", MaxBudget.Time())
	}
}

// What a job with a budget has used is the last entry of its register, and belongs to no other job.
func TestUsedEntry(t *testing.T) {
	for _, after := range [][]Dependency{nil, {{}}, {{}, {Kind: AfterEach}}} {
		s := JobSpec{Count: 5}
		s.After.Jobs = after
		without := s.Entries()
		s.Rules.Budget = 1
		if s.UsedEntry() != without || s.Entries() != without+1 {
			t.Errorf("%d jobs before it: entry %d of %d, want %d", len(after), s.UsedEntry(), s.Entries(), without)
		}
		if _, _, found := s.DependencyOf(s.UsedEntry()); found {
			t.Errorf("%d jobs before it: the entry is one of a job that is waited for", len(after))
		}
	}
}
