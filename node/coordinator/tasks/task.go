package tasks

import (
	"skep/grid"
	"skep/node/coordinator/packed"
)

// Task is what is recorded of a task. Live, an L, is what is kept beside it while it is placed or runs.
type Task[L any] struct {
	state       grid.TaskState
	uncommitted bool
	Pulls       uint8  // times that it was taken from a queue for an idle node; of rank 0, that its gang moved
	Moves       uint8  // times that it was given up after it had started, to go on elsewhere
	Option      uint8  // of the job, that its attempt runs as, from 1; 0 = it has none, or that is not known
	Round       uint32 // of the entry of its end, as in grid.Entry

	// Kept is what is kept of it for as long as its job. Attempt is the newest one but for backup attempts, Backup the
	// newest backup attempt. Held: it ended while a worker held its attempt, which has not been told.
	Kept
	Live L
}

// Kept is what is kept of a task for as long as its job.
type Kept = packed.Task

// State is the task's state.
func (t *Task[L]) State() grid.TaskState { return t.state }

// Uncommitted reports whether the task has ended, and its end is not committed.
func (t *Task[L]) Uncommitted() bool { return t.uncommitted }

// Over reports whether the task has ended, and its end is committed.
func (t *Task[L]) Over() bool { return t.state == grid.Ended && !t.uncommitted }

// Failed reports whether the task is recorded to have ended badly, and not since it was withdrawn.
func (t *Task[L]) Failed() bool {
	return t.state == grid.Ended && t.Result.Exit != 0 && !t.Result.Cause.Withdrawn()
}

// Next returns the number of the next attempt: higher than all that were ever made.
func (t *Task[L]) Next(epoch uint32) grid.Attempt {
	next := t.Last(epoch)
	next.N++
	return next
}

// Last returns the newest attempt that was ever made; the number 0 of an epoch in which none was.
func (t *Task[L]) Last(epoch uint32) grid.Attempt {
	last := t.Attempt
	if last.Less(t.Backup) {
		last = t.Backup
	}
	if epoch > last.Epoch {
		last = grid.Attempt{Epoch: epoch}
	}
	return last
}

// Unend clears how the task ended: it goes on.
func (t *Task[L]) Unend() { t.Result, t.Began, t.Done = grid.CompactResult{}, 0, 0 }
