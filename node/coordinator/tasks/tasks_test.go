package tasks

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"skep/grid"
	"skep/node/failures"
)

const count = 40

// Random changes against plain counts. Each state is counted, and an end is over once it is committed.
func TestListAgainstModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	l, twin, open := Make[int](count), [count]grid.TaskState{}, map[uint32]bool{}
	for i := range twin {
		twin[i] = grid.Pending
	}
	for range 5000 {
		i := r.Uint32N(count)
		switch {
		case twin[i] != grid.Ended:
			twin[i] = grid.TaskState(r.IntN(4)) + grid.Pending
			if l.Set(i, twin[i]); twin[i] == grid.Ended {
				open[i] = true
				l.Propose(i, 1)
			}
		case open[i]:
			if delete(open, i); !l.Commit(i) {
				t.Fatalf("task %d was committed", i)
			}
		default:
			if l.Commit(i) {
				t.Fatalf("task %d is committed twice", i)
			}
			twin[i] = grid.Pending
			l.Set(i, grid.Pending)
		}
		in := map[grid.TaskState]int{}
		for i, s := range twin {
			if in[s]++; l.State(uint32(i)) != s {
				t.Fatalf("task %d is %v: want %v", i, l.State(uint32(i)), s)
			}
		}
		if broken := l.Broken(); broken != "" {
			t.Fatal(broken)
		}
		if l.In(grid.Pending) != in[grid.Pending] || l.Out() != in[grid.Offered]+in[grid.Placed] ||
			l.Over() != in[grid.Ended]-len(open) || l.Uncommitted() != len(open) {
			t.Fatalf("%d pending, %d out, %d over, %d not: want %v and %d", l.In(grid.Pending), l.Out(), l.Over(),
				l.Uncommitted(), in, len(open))
		}
	}
}

// What nobody has touched is pending, and takes no memory, however it is looked at.
func TestReadingTouchesNothing(t *testing.T) {
	l := Make[int](100_000)
	if l.Peek(99_999) != nil || l.State(99_999) != grid.Pending || l.Touched() != 0 || l.Leaves() != 0 {
		t.Error("a task is touched that was read")
	}
	if l.At(7); l.Touched() != 1 || l.Peek(7).State() != grid.Pending {
		t.Error("a task is not touched that was written")
	}
}

// The next attempt is above all that were made, backup attempts among them, and of the owner's epoch.
func TestNextAttempt(t *testing.T) {
	at := func(epoch, n uint32) grid.Attempt { return grid.Attempt{Epoch: epoch, N: n} }
	for _, x := range []struct {
		attempt, backup grid.Attempt
		epoch           uint32
		want            grid.Attempt
	}{
		{epoch: 1, want: at(1, 1)},
		{attempt: at(1, 1), epoch: 1, want: at(1, 2)},
		{attempt: at(1, 1), backup: at(1, 2), epoch: 1, want: at(1, 3)},
		{attempt: at(1, 4), backup: at(1, 2), epoch: 1, want: at(1, 5)},
		{attempt: at(1, 4), backup: at(1, 2), epoch: 2, want: at(2, 1)},
	} {
		task := Task[int]{Kept: Kept{Attempt: x.attempt, Backup: x.backup}}
		if got := task.Next(x.epoch); got != x.want {
			t.Errorf("after %v and %v in epoch %d: %v, want %v", x.attempt, x.backup, x.epoch, got, x.want)
		}
	}
}

func worker(k byte) grid.NodeID { return grid.NodeID{k} }

// A task without an end is read back as it was written. That its attempt was another owner's is not known after a
// restart: whoever has it says so.
func TestAnUnendedTaskIsReadBack(t *testing.T) {
	for _, of := range []grid.NodeID{worker(3), {}} {
		l := Make[int](count)
		x := l.At(5)
		x.Kept = Kept{Attempt: grid.Attempt{Epoch: 1, N: 2}, Backup: grid.Attempt{Epoch: 1, N: 3}, Worker: of,
			Lost: 4, Placed: 5}
		x.Pulls, x.Moves = 6, 7
		l.Set(5, grid.Placed)
		var e grid.EntryRecord
		if l.Record(&e, 5, count, Written{}, worker(8)) || e.Backup == nil || e.Backup.Worker != worker(8) {
			t.Fatalf("%+v: want a record with the backup attempt's worker", e)
		}
		e.ID.Task.Index = 5
		again := Make[int](count)
		got, want := again.Restore(&e, false, nil), *x
		if of.IsZero() {
			want.Attempt = grid.Attempt{}
		}
		if !reflect.DeepEqual(*got, want) || again.In(grid.Placed) != 1 || again.Broken() != "" {
			t.Errorf("%+v\nis read as\n%+v\n%s", want, *got, again.Broken())
		}
	}
}

// An end is read back with its round, committed or not. A worker that is this node's own has to be told of one that is
// not; others report theirs again.
func TestAnEndIsReadBack(t *testing.T) {
	v := &grid.Entry{Index: 5, Epoch: 2, Attempt: grid.Attempt{Epoch: 1, N: 2}, Worker: worker(3), Round: 2,
		Result: &grid.Result{Cause: grid.Exited, Exit: 4, Wall: time.Second}, Placed: 6, Began: 7, Done: 8}
	for _, committed := range []bool{false, true} {
		for _, self := range []byte{3, 4} {
			l := Make[int](count)
			l.At(5).Backup = grid.Attempt{Epoch: 1, N: 9}
			var e grid.EntryRecord
			e.ID.Task.Index = 5
			l.Record(&e, 5, count, Written{Entry: v, Committed: committed}, grid.NodeID{})
			again := Make[int](count)
			x := again.Restore(&e, e.Committed, func(id grid.NodeID) bool { return id == worker(self) })
			if x.Over() != committed || x.Uncommitted() == committed || x.Held != (!committed && self == 3) || x.Round != 2 ||
				x.Attempt != v.Attempt || x.Backup != l.At(5).Backup || !reflect.DeepEqual(x.Result.Result(), v.Result) {
				t.Errorf("committed %v, self %d: %+v", committed, self, x)
			}
			ends, done := again.Tally()
			if want := (failures.Ends{Failed: 1, Exit: 4}); committed && (ends != want || done != 8) ||
				!committed && ends != (failures.Ends{}) {
				t.Errorf("committed %v: the tally is %+v, %d", committed, ends, done)
			}
		}
	}
}

// A task goes on after a failure that is recorded: its record is that of a pending one, from which the next attempt
// follows the recorded one.
func TestAFailureThatIsRetriedIsReadBack(t *testing.T) {
	v := &grid.Entry{Index: 5, Epoch: 1, Attempt: grid.Attempt{Epoch: 1, N: 2}, Worker: worker(3), Again: time.Second,
		Result: &grid.Result{Cause: grid.Exited, Exit: 4}}
	l := Make[int](count)
	x := l.At(5)
	x.Attempt, x.Worker, x.Backup, x.Began, x.Done = v.Attempt, v.Worker, grid.Attempt{Epoch: 1, N: 3}, 1, 2
	l.Set(5, grid.Ended)
	l.Propose(5, 0)
	var e grid.EntryRecord
	e.ID.Task.Index = 5
	l.Record(&e, 5, count, Written{Entry: v, Sole: true}, grid.NodeID{})
	if e.State != grid.Pending || e.Began != 0 || e.Done != 0 || e.Open != v || !e.Held {
		t.Errorf("%+v: want a pending task that holds its entry", e)
	}
	again := Make[int](count)
	if got := again.Restore(&e, false, nil); got.State() != grid.Pending || got.Next(1) != (grid.Attempt{Epoch: 1, N: 4}) {
		t.Errorf("%v, and next attempt %v: want a pending one, and 4", got.State(), got.Next(1))
	}
}

// Files that are kept of a task count with their attempt, if none is newer, and nothing is recorded of a cancellation
// that there is not.
func TestFilesAreRecorded(t *testing.T) {
	r := &grid.Result{Cause: grid.Exited}
	for n, held := range map[uint32]bool{1: false, 2: true, 3: true} {
		l := Make[int](count)
		l.At(5).Attempt = grid.Attempt{Epoch: 1, N: 2}
		var e grid.EntryRecord
		l.Record(&e, 5, count, Written{Output: grid.Attempt{Epoch: 1, N: n}, Result: r, HasOutput: true}, grid.NodeID{})
		if e.Held != held || (e.Result == r) != held || e.ID.Attempt.N != max(n, 2) {
			t.Errorf("files of attempt %d: %+v", n, e)
		}
	}
	l := Make[int](count)
	if !l.Record(new(grid.EntryRecord), count, count, Written{}, grid.NodeID{}) {
		t.Error("something is recorded of a job that is not cancelled")
	}
}
