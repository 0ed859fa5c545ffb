package failures

import (
	"testing"

	"skep/grid"
)

// A retry succeeds a final end, and what it leads to is possible; what no owner decides is not.
func TestRetriesArePossible(t *testing.T) {
	s := &grid.JobSpec{Count: 2, Retries: 1}
	end := &grid.Entry{Index: 1, Attempt: grid.Attempt{Epoch: 1, N: 1}, Result: &grid.Result{Cause: grid.Exited, Exit: 3}}
	again := Retry(end, 2)
	next := grid.Entry{Index: 1, Attempt: grid.Attempt{Epoch: 2, N: 1}, Result: end.Result, Round: again.Round + 1,
		RetriedAt: again.RetriedAt, RetryEpoch: again.RetryEpoch, Failures: Past(again)}
	twice := Retry(&next, 2)
	if !again.IsRetry() || !again.Open() || next.IsRetry() || !twice.IsRetry() || len(twice.Failures) != 2 ||
		Count(again) != 1 || Count(&next) != 1 || Count(twice) != 2 {
		t.Fatalf("%+v, then %+v, then %+v", again, next, twice)
	}
	cancelled := Retry(&grid.Entry{Index: 2, Done: 5}, 2)
	cancelled.Result = &grid.Result{Cause: grid.Cancelled}
	for what, c := range map[string]struct {
		want  bool
		epoch uint32
		e     grid.Entry
	}{
		"a retry":                           {true, 2, *again},
		"its next end":                      {true, 2, next},
		"a second retry":                    {true, 3, *twice},
		"a cancellation that is withdrawn":  {true, 2, *cancelled},
		"a retry decided in a later epoch":  {false, 1, *again},
		"a retry that is final":             {false, 2, with(again, func(e *grid.Entry) { e.Again = 0 })},
		"a retry of what never ended":       {false, 2, with(again, func(e *grid.Entry) { e.Round, e.RetriedAt = 0, 1 })},
		"an end too many":                   {false, 2, with(&next, func(e *grid.Entry) { e.Round++ })},
		"an end after a retry never heard":  {false, 2, with(&next, func(e *grid.Entry) { e.RetriedAt = 0 })},
		"a retry of a task there is not":    {false, 2, with(again, func(e *grid.Entry) { e.Index = 3 })},
		"a failure that is retried by rule": {false, 2, with(&next, func(e *grid.Entry) { e.Again = 5 })},
	} {
		if got := Possible(s, &c.e, c.epoch); got != c.want {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
	once := &grid.JobSpec{Count: 2}
	if Refuses(once) == "" || Possible(once, again, 2) {
		t.Error("a job whose tasks run at most once has one run again")
	}
}

func with(e *grid.Entry, change func(*grid.Entry)) grid.Entry {
	c := *e
	change(&c)
	return c
}
