package failures

import (
	"time"

	"skep/grid"
)

// Record fills in the record of a task whose end is in the register.
func Record(e *grid.EntryRecord, v *grid.Entry, committed bool) {
	e.State, e.ID.Attempt, e.Worker, e.Lost, e.Result = grid.Ended, v.Attempt, v.Worker, v.Lost, v.Result
	e.Placed, e.Began, e.Done, e.Epoch, e.Committed = v.Placed, v.Began, v.Done, v.Epoch, committed
	e.Round, e.Failures, e.RetriedAt, e.RetryEpoch = v.Round, v.Failures, v.RetriedAt, v.RetryEpoch
}

// Recorded returns the register's entry that a record is of; nil = there is none. An open one that no owner can have
// written counts as if it had not been written: then the record is returned without it.
func Recorded(s *grid.JobSpec, r *grid.EntryRecord) (*grid.EntryRecord, *grid.Entry) {
	i := r.ID.Task.Index
	if r.Open != nil && (r.Open.Index != i || !Possible(s, r.Open, r.Open.Epoch)) {
		open := *r
		r, open.Open = &open, nil
	}
	if r.Epoch == 0 {
		return r, r.Open
	}
	return r, &grid.Entry{Index: i, Epoch: r.Epoch, Attempt: r.ID.Attempt, Worker: r.Worker, Lost: r.Lost,
		Result: r.Result, Placed: r.Placed, Began: r.Began, Done: r.Done, Round: r.Round, Failures: r.Failures,
		RetriedAt: r.RetriedAt, RetryEpoch: r.RetryEpoch}
}

// Kept returns what is kept of a task's failures by its entry, oldest first. If the task goes on and has no later end
// it returns the result of the last one too, and when the next attempt may start, in wall time; 0 = one was made.
func Kept(v *grid.Entry, pending bool) (past []grid.Failure, last *grid.Result, again int64) {
	if !v.Open() {
		return v.Failures, nil, 0
	}
	if pending {
		again = v.Done + int64(v.Again)
	}
	return Past(v), v.Result, again
}

// Left is for how long a task waits still after a failure that was recorded, by the wall clock. It is never longer than
// the entry says, whatever has become of the clock.
func Left(v *grid.Entry, wall int64) time.Duration {
	return min(v.Again-time.Duration(wall-v.Done), v.Again)
}
