package failures

import (
	"testing"

	"skep/grid"
)

// A row is what an honest owner does not write of the moves of a gang that may move twice: to the entry that it may
// write as the second one in epoch 3.
func TestWhichMovesArePossible(t *testing.T) {
	for _, c := range []struct {
		what  string
		wrong func(s *grid.JobSpec, e *grid.Entry)
	}{
		{"a third move", func(s *grid.JobSpec, e *grid.Entry) { e.Round = 2 }},
		{"a gang that may run at most once", func(s *grid.JobSpec, e *grid.Entry) { s.Retries = 0 }},
		{"no attempt", func(s *grid.JobSpec, e *grid.Entry) { e.Attempt = grid.Attempt{} }},
		{"an attempt of a later epoch", func(s *grid.JobSpec, e *grid.Entry) { e.Attempt.Epoch = 4 }},
		{"an attempt of no possible size", func(s *grid.JobSpec, e *grid.Entry) { e.Attempt.N = 10_007 }},
		{"a final entry", func(s *grid.JobSpec, e *grid.Entry) { e.Again = 0 }},
		{"no result", func(s *grid.JobSpec, e *grid.Entry) { e.Result = nil }},
		{"use of a budget", func(s *grid.JobSpec, e *grid.Entry) { e.Used = 1 }},
		{"lost attempts", func(s *grid.JobSpec, e *grid.Entry) { e.Lost = 1 }},
		{"a retry", func(s *grid.JobSpec, e *grid.Entry) { e.RetriedAt = 2 }},
		{"the epoch of a retry", func(s *grid.JobSpec, e *grid.Entry) { e.RetryEpoch = 1 }},
		{"failures", func(s *grid.JobSpec, e *grid.Entry) { e.Failures = make([]grid.Failure, 1) }},
		{"moves that are not counted", func(s *grid.JobSpec, e *grid.Entry) { s.Gang.Search.CountsMoves = false }},
	} {
		s := &grid.JobSpec{Count: 4, Retries: 1}
		s.Gang = grid.Gang{Ranks: 4, Min: 2, Search: &grid.ScheduleSearch{CountsMoves: true,
			Contract: &grid.Contract{Moves: 2}}}
		e := &grid.Entry{Index: s.MovesEntry(), Round: 1, Again: 1, Attempt: grid.Attempt{Epoch: 3, N: 10_002},
			Result: &grid.Result{Cause: grid.Lost}}
		if !Possible(s, e, 3) {
			t.Fatal("the entry is not possible")
		}
		if c.wrong(s, e); Possible(s, e, 3) {
			t.Errorf("%s: possible", c.what)
		}
	}
}
