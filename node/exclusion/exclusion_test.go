package exclusion

import (
	"slices"
	"testing"

	"skep/grid"
)

// An offer without an answer is a strike, and no failure: it does not keep the task from the node for good.
func TestSilenceIsNoFailure(t *testing.T) {
	var x Set
	silent, broken := grid.NodeID{1}, grid.NodeID{2}
	x.Fail(silent, grid.Refusal{Why: grid.WhySilent})
	x.Fail(broken, grid.Refusal{Why: grid.WhyLost})
	x.Fail(broken, grid.Refusal{Why: grid.WhySilent})
	if x.HasFailedOn(silent) || !x.HasFailedOn(broken) || len(x.FailedOn()) != 2 {
		t.Errorf("failed on %v", x.FailedOn())
	}
	if unfit := slices.Collect(x.Unfit()); len(unfit) != 1 || unfit[0] != broken {
		t.Errorf("unfit: %v, want the node that lost it", unfit)
	}
	x.Fail(silent, grid.Refusal{Why: grid.WhyLost})
	if !x.HasFailedOn(silent) || len(x.FailedOn()) != 2 {
		t.Errorf("after it was lost there too: failed on %v", x.FailedOn())
	}
}
