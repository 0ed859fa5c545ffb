package coordinator_test

import (
	"testing"

	"skep/node/deadline"
)

// The owner counts how tasks end, each once: not a failure after which the task is run again.
func TestEndsAreCounted(t *testing.T) {
	w := newNetwork()
	for _, line := range []string{
		"start a b",
		"submit a job1 on=b count=2 max-running=1 deadline=5s", "run", "advance 2s", "end b job1/0 exit 0", "run",
		"advance 10s",
		"submit a job2 on=b retry-failed=1", "run", "end b job2/0 exit 1", "advance 5s", "end b job2/0 exit 1", "run",
	} {
		if _, err := w.command(line); err != nil {
			t.Fatal(err)
		}
	}
	got := w.member("a").n.Stats(w.now).Ends
	if d := got.Weighted - 2; d < 0 || d > 0.1 {
		t.Errorf("weighted completion time %v, want that of the one good end, after 2 s", got.Weighted)
	}
	if got.Value <= 1.9 || got.Value > got.Weighted {
		t.Errorf("value %v, want about the 2 s that the task ran", got.Value)
	}
	got.Weighted, got.Value = 0, 0
	if want := (deadline.Ends{Good: 1, Missed: 1, Other: 1, InTime: 1, Late: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if other := w.member("b").n.Stats(w.now).Ends; other != (deadline.Ends{}) {
		t.Errorf("who runs them counts %+v", other)
	}
}

// A gang with more ranks than there is room for counts with those that it had: a rank that its attempt did not use got
// its user nothing. Of one that was never begun all ranks count.
func TestUnusedRanksAreNotCounted(t *testing.T) {
	w := newNetwork()
	for _, line := range []string{
		"start a b", "submit a job1 ranks=6 on=b min=1", "advance 2s", "end b job1/0 exit 0", "run", "advance 10s",
		"submit a job2 ranks=2 on=c min=1", "advance 10s",
	} {
		if _, err := w.command(line); err != nil {
			t.Fatal(err)
		}
	}
	got := w.member("a").n.Stats(w.now).Ends
	got.Weighted, got.Value = 0, 0
	if want := (deadline.Ends{Good: 1, Other: 2, InTime: 1, Late: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
