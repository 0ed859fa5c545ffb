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

// A node that lost the task gets it again after a while, once: a second loss there is for good. All count as strikes.
func TestALossIsForgivenOnce(t *testing.T) {
	var x Set
	a, b := grid.NodeID{1}, grid.NodeID{2}
	why := grid.Refusal{Why: grid.WhyLost}
	at := func(now grid.Time) bool { x.Expire(now); return x.HasFailedOn(a) }
	x.LoseOnce(a, why, 10)
	x.Fail(b, why)
	if unfit := slices.Collect(x.Unfit()); !x.BacksOff(a) || x.BacksOff(b) || len(unfit) != 1 || unfit[0] != b {
		t.Errorf("unfit: %v, want the one that is excluded for good", unfit)
	}
	if !at(9) || at(10) || len(slices.Collect(x.Unfit())) != 1 || len(x.FailedOn()) != 2 || !x.Prefers() {
		t.Errorf("after a loss: excluded at 9 and not at 10, %v", x.FailedOn())
	}
	x.Fail(a, grid.Refusal{Why: grid.WhySilent})
	if at(10) {
		t.Error("an offer without an answer makes the loss before it one for good")
	}
	x.LoseOnce(a, why, 20)
	if !at(1000) || !x.HasFailedOn(b) || len(x.FailedOn()) != 2 {
		t.Errorf("after two losses: %v", x.FailedOn())
	}
	x.LoseOnce(b, why, 20)
	if x.Expire(1000); !x.HasFailedOn(b) {
		t.Error("a loss where it failed before is forgiven")
	}
	var silent Set
	silent.Fail(a, grid.Refusal{Why: grid.WhySilent})
	if silent.LoseOnce(a, why, 10); !silent.HasFailedOn(a) {
		t.Error("a loss after an offer without an answer is none")
	}
	if silent.Expire(10); silent.HasFailedOn(a) {
		t.Error("an offer without an answer makes a loss one for good")
	}
}
