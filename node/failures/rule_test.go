package failures

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
)

// A row is an end of a task and whether a rule of three retries, which names these codes, runs it again.
func TestWhichEndsAreRetried(t *testing.T) {
	for _, c := range []struct {
		what  string
		codes []int32
		r     grid.Result
		round uint32
		want  bool
	}{
		{"success", nil, grid.Result{Cause: grid.Exited}, 0, false},
		{"success whose output exceeded its bound", nil, grid.Result{Cause: grid.Exited, Exit: 125, Error: "x"}, 0, false},
		{"that, and its code is named", []int32{125}, grid.Result{Cause: grid.Exited, Exit: 125, Error: "x"}, 0, false},
		{"any code", nil, grid.Result{Cause: grid.Exited, Exit: 3}, 0, true},
		{"a named code", []int32{1, 75}, grid.Result{Cause: grid.Exited, Exit: 75}, 0, true},
		{"another code", []int32{1, 75}, grid.Result{Cause: grid.Exited, Exit: 3}, 0, false},
		{"a signal", nil, grid.Result{Cause: grid.Signaled, Exit: 139}, 0, true},
		{"a signal that is not named", []int32{1}, grid.Result{Cause: grid.Signaled, Exit: 139}, 0, false},
		{"out of memory", nil, grid.Result{Cause: grid.MemoryExceeded, Exit: 137}, 0, true},
		{"the time limit", nil, grid.Result{Cause: grid.TimedOut, Exit: 124}, 0, false},
		{"the time limit, and it is named", []int32{124}, grid.Result{Cause: grid.TimedOut, Exit: 124}, 0, true},
		{"cancelled", []int32{130}, grid.Result{Cause: grid.Cancelled, Exit: 130}, 0, false},
		{"lost", []int32{125}, grid.Result{Cause: grid.Lost, Exit: 125}, 0, false},
		{"no such program", []int32{127}, grid.Result{Cause: grid.NotFound, Exit: 127}, 0, false},
		{"nobody can run it", []int32{121}, grid.Result{Cause: grid.Unplaceable, Exit: 121}, 0, false},
		{"the third failure", nil, grid.Result{Cause: grid.Exited, Exit: 3}, 2, true},
		{"the fourth failure", nil, grid.Result{Cause: grid.Exited, Exit: 3}, 3, false},
	} {
		rule := grid.OnFailure{Retry: 3, Codes: c.codes, Backoff: time.Second}
		if after, got := Again(&rule, grid.TaskID{}, c.round, &c.r); got != c.want || got != (after > 0) {
			t.Errorf("%s: again %v after %v, want %v", c.what, got, after, c.want)
		}
	}
	if _, again := Again(&grid.OnFailure{}, grid.TaskID{}, 0, &grid.Result{Cause: grid.Exited, Exit: 1}); again {
		t.Error("a job without a rule: run again")
	}
}

// The back-off doubles, is never shorter than that and at most a quarter longer, and does not grow beyond its bound.
func TestBackoff(t *testing.T) {
	for round, want := range []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second} {
		for i := range uint32(200) {
			if d := backoff(10*time.Second, grid.TaskID{Index: i}, uint32(round)); d < want || d > want+want/4 {
				t.Fatalf("round %d: %v, want %v to a quarter more", round, d, want)
			}
		}
	}
	different := map[time.Duration]bool{}
	for i := range uint32(100) {
		different[backoff(time.Hour/2, grid.TaskID{Index: i}, 80).Truncate(time.Minute)] = true
		if d := backoff(time.Hour/2, grid.TaskID{Index: i}, 80); d < grid.MaxBackoff || d > grid.MaxBackoff*5/4 {
			t.Fatalf("the 81st: %v, want an hour to a quarter more", d)
		}
	}
	if len(different) < 10 {
		t.Errorf("100 tasks that failed together come back in %d different minutes of 15", len(different))
	}
	if d := backoff(0, grid.TaskID{}, 5); d != 1 {
		t.Errorf("no back-off: %v", d)
	}
}

// Of each failure the last line is kept, and of the failures the newest.
func TestPast(t *testing.T) {
	for _, c := range []struct {
		r    grid.Result
		want string
	}{
		{grid.Result{Stderr: grid.Output{Inline: []byte("a\nb: no such host \n\n")}}, "b: no such host"},
		{grid.Result{LastLine: "of a long one", Stderr: grid.Output{Size: 1 << 20}}, "of a long one"},
		{grid.Result{Error: "killed by signal 9", Stdout: grid.Output{Inline: []byte("x")}}, "killed by signal 9"},
		{grid.Result{Stdout: grid.Output{Inline: []byte("x\n\x1b[31mred\n")}}, "?[31mred"},
		{grid.Result{}, ""},
	} {
		if got := Past(&grid.Entry{Result: &c.r})[0].Line; got != c.want {
			t.Errorf("last line %q, want %q", got, c.want)
		}
	}
	e := grid.Entry{Result: &grid.Result{Exit: 1}, Done: 1}
	for n := int64(2); n < 30; n++ {
		e = grid.Entry{Result: e.Result, Failures: Past(&e), Done: n}
		if k := len(e.Failures); k != int(min(n-1, grid.MaxFailures)) || e.Failures[k-1].Done != n-1 {
			t.Fatalf("after %d failures %d are kept, the last of %d", n-1, k, e.Failures[k-1].Done)
		}
	}
}

// An entry of which tasks may have been offered is about tasks of the job alone, of a job that records that, and has
// nothing of an attempt.
func TestOffersThatNoOwnerWrites(t *testing.T) {
	s := &grid.JobSpec{Count: 100}
	s.RecordsOffers = true
	entry := func(change func(e *grid.Entry)) *grid.Entry {
		e := &grid.Entry{Index: s.OfferedEntry(), Epoch: 1, Again: 1, Result: &grid.Result{Cause: grid.Lost},
			Offered: &grid.OfferedTasks{Below: 100, Free: []grid.TaskSpan{{From: 0, To: 5}, {From: 64, To: 100}}}}
		change(e)
		return e
	}
	if e := entry(func(*grid.Entry) {}); !Possible(s, e, 1) || Possible(&grid.JobSpec{Count: 101}, e, 1) {
		t.Error("want it to be possible of this job alone")
	}
	for name, change := range map[string]func(e *grid.Entry){
		"says nothing":    func(e *grid.Entry) { e.Offered = nil },
		"of more tasks":   func(e *grid.Entry) { e.Offered.Below = 101 },
		"free is no task": func(e *grid.Entry) { e.Offered.Free[1].To = 101 },
		"not ascending":   func(e *grid.Entry) { slices.Reverse(e.Offered.Free) },
		"of a task":       func(e *grid.Entry) { e.Index = 7 },
		"final":           func(e *grid.Entry) { e.Again = 0 },
		"of an attempt":   func(e *grid.Entry) { e.Attempt.N = 1 },
		"of a budget":     func(e *grid.Entry) { e.Used = 1 },
		"of a retry":      func(e *grid.Entry) { e.RetriedAt = 1 },
		"too many rounds": func(e *grid.Entry) { e.Round = grid.MaxRounds },
	} {
		if Possible(s, entry(change), 1) {
			t.Errorf("%s: want it refused", name)
		}
	}
}
