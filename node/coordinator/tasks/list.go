package tasks

import (
	"fmt"
	"iter"

	"skep/grid"
	"skep/node/failures"
	"skep/sparse"
)

// List is the tasks of a job.
type List[L any] struct {
	of          sparse.List[Task[L]]
	in          [grid.Ended + 1]int
	uncommitted int
}

// Make returns the tasks of a job of so many, none of which is touched.
func Make[L any](count uint32) List[L] {
	l := List[L]{of: sparse.Make[Task[L]](count)}
	l.in[grid.Pending] = int(count)
	return l
}

// Ended returns tasks that have ended, with what next returns of each in order. Without it they are only counted.
func Ended[L any](count uint32, next func() Kept) (l List[L]) {
	if l.in[grid.Ended] = int(count); next == nil {
		return l
	}
	l.of = sparse.Make[Task[L]](count)
	for i := range count {
		*l.of.At(i) = Task[L]{state: grid.Ended, Kept: next()}
	}
	return l
}

// Untouched returns a task of which nothing is known.
func Untouched[L any]() Task[L] { return Task[L]{state: grid.Pending} }

// At returns a task for writing; its address is stable.
func (l *List[L]) At(i uint32) *Task[L] {
	t := l.of.At(i)
	if t.state == 0 {
		t.state = grid.Pending
	}
	return t
}

// Peek returns a task for reading only; nil if nothing is known of it.
func (l *List[L]) Peek(i uint32) *Task[L] {
	if t := l.of.Peek(i); t != nil && t.state != 0 {
		return t
	}
	return nil
}

// State is the state of a task.
func (l *List[L]) State(i uint32) grid.TaskState {
	if t := l.Peek(i); t != nil {
		return t.state
	}
	return grid.Pending
}

// Known iterates over the touched tasks, in order.
func (l *List[L]) Known() iter.Seq2[uint32, *Task[L]] {
	return func(yield func(uint32, *Task[L]) bool) {
		for i, t := range l.of.All() {
			if t.state != 0 && !yield(i, t) {
				return
			}
		}
	}
}

// Touched is the number of touched tasks.
func (l *List[L]) Touched() (n uint32) {
	for range l.Known() {
		n++
	}
	return n
}

// Leaves is how many runs of tasks take memory.
func (l *List[L]) Leaves() int { return l.of.Leaves() }

// In is the number of tasks in a state.
func (l *List[L]) In(s grid.TaskState) int { return l.in[s] }

// Out is the number of tasks that were given to a worker: offered or placed.
func (l *List[L]) Out() int { return l.in[grid.Offered] + l.in[grid.Placed] }

// Over is the number of tasks whose end is committed.
func (l *List[L]) Over() int { return l.in[grid.Ended] - l.uncommitted }

// Uncommitted is the number of tasks whose end is not committed.
func (l *List[L]) Uncommitted() int { return l.uncommitted }

// Set changes the state of a task.
func (l *List[L]) Set(i uint32, s grid.TaskState) {
	t := l.At(i)
	l.in[t.state]--
	l.in[s]++
	t.state = s
}

// Propose records that the end of a task is in the register, in a round, and not committed.
func (l *List[L]) Propose(i uint32, round uint32) {
	t := l.At(i)
	if t.Round = round; !t.uncommitted {
		t.uncommitted = true
		l.uncommitted++
	}
}

// Commit records that the end of a task is committed, or does not count any more; it reports whether it was not.
func (l *List[L]) Commit(i uint32) bool {
	t := l.At(i)
	if !t.uncommitted {
		return false
	}
	t.uncommitted = false
	l.uncommitted--
	return true
}

// IsOver reports whether the end of a task is committed.
func (l *List[L]) IsOver(i uint32) bool {
	t := l.Peek(i)
	return t != nil && t.Over()
}

// OverFailed is the number of tasks whose ends are committed, and bad.
func (l *List[L]) OverFailed() (n int32) {
	for _, t := range l.Known() {
		if t.Over() && t.Failed() {
			n++
		}
	}
	return n
}

// FailedBut is the number of tasks with bad ends, committed or not, but for those skipped.
func (l *List[L]) FailedBut(skipped func(i uint32) bool) (n int32) {
	for i, t := range l.Known() {
		if t.Failed() && !skipped(i) {
			n++
		}
	}
	return n
}

// Tally counts the tasks whose ends are committed, by how they ended, and returns when the last one did, in wall time.
func (l *List[L]) Tally() (ends failures.Ends, done int64) {
	for _, t := range l.Known() {
		if t.Over() {
			ends.Count(&t.Result)
			done = max(done, t.Done)
		}
	}
	return ends, done
}

// Broken returns an invariant that does not hold; "" = all do.
func (l *List[L]) Broken() string {
	in, uncommitted := [len(l.in)]int{}, 0
	for i, t := range l.Known() {
		if in[t.state]++; t.uncommitted {
			uncommitted++
		}
		if t.uncommitted && t.state != grid.Ended {
			return fmt.Sprintf("task %d is %v, and its end is not committed", i, t.state)
		}
	}
	in[grid.Pending] += l.of.Len() - int(l.Touched())
	if in != l.in || uncommitted != l.uncommitted {
		return fmt.Sprintf("its tasks count as %v, are %v; %d count as uncommitted, %d are", l.in, in, l.uncommitted,
			uncommitted)
	}
	return ""
}
