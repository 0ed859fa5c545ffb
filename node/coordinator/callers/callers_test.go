package callers

import (
	"slices"
	"testing"

	"skep/grid"
)

func change(caller uint64, cancels bool, tasks ...uint32) Change {
	x := Change{Caller: caller, Cancels: cancels}
	for _, i := range tasks {
		x.Await(i)
	}
	return x
}

func answered(l *List, i uint32, ended bool) (callers []uint64) {
	for _, x := range l.Committed(i, ended) {
		callers = append(callers, x.Caller)
	}
	return callers
}

// A caller is answered with the last of the tasks that it waits for, and only by what it asked for: an end for a
// cancel, a retry for a retry.
func TestAnsweredWhenAllOfItsTasksAreCommitted(t *testing.T) {
	var l List
	l.Change(change(1, true, 0, 1))
	l.Change(change(2, false, 1))
	l.Change(change(3, true, 1))
	for _, c := range []struct {
		task  uint32
		ended bool
		want  []uint64
	}{{0, false, nil}, {1, true, []uint64{3}}, {1, false, []uint64{2}}, {2, true, nil}, {0, true, []uint64{1}},
		{0, true, nil}} {
		if l.Withdraws(0) != (len(l.changes) > 0 && l.changes[0].left[0]) {
			t.Errorf("before task %d: a caller withdraws task 0: %v", c.task, l.Withdraws(0))
		}
		if got := answered(&l, c.task, c.ended); !slices.Equal(got, c.want) {
			t.Errorf("task %d, ended %v: %v are answered, want %v", c.task, c.ended, got, c.want)
		}
	}
	if x := change(4, true); !x.Committed() {
		t.Error("a change of no task waits")
	}
}

// Only a cancel withdraws a task.
func TestARetryWithdrawsNothing(t *testing.T) {
	var l List
	l.Change(change(1, false, 0))
	if l.Withdraws(0) {
		t.Error("a task that is to be run again counts as cancelled")
	}
	l.Change(change(2, true, 0))
	if !l.Withdraws(0) || l.Withdraws(1) {
		t.Errorf("withdrawn: %v, and one that nobody named: %v", l.Withdraws(0), l.Withdraws(1))
	}
}

// When another node takes the job over each caller is told so, once.
func TestAllAreRefusedOnce(t *testing.T) {
	var l List
	l.Cancel(1)
	l.Change(change(2, true, 0))
	l.Retry(Retry{Caller: 3})
	var fx grid.Effects
	l.Refuse(grid.JobID{}, &fx)
	l.Refuse(grid.JobID{}, &fx)
	var told []uint64
	for _, r := range fx.Replies {
		if told = append(told, r.Caller); r.Err == "" {
			t.Errorf("caller %d hears that all is well", r.Caller)
		}
	}
	if !slices.Equal(told, []uint64{1, 2, 3}) {
		t.Errorf("told are %v, want each once", told)
	}
	if l.Cancelled() != nil || l.Owned() != nil || answered(&l, 0, true) != nil {
		t.Error("a caller that was told waits")
	}
}
