package failures

import (
	"reflect"
	"testing"
	"time"

	"skep/grid"
)

// What is recorded of an end is read back as the same entry, whatever it is.
func TestAnEndIsReadBack(t *testing.T) {
	s := &grid.JobSpec{Count: 9}
	v := &grid.Entry{Index: 3, Epoch: 2, Attempt: grid.Attempt{Epoch: 2, N: 5}, Worker: grid.NodeID{1}, Lost: 1,
		Result: &grid.Result{Cause: grid.Exited, Exit: 4}, Placed: 6, Began: 7, Done: 8, Round: 2,
		Failures: []grid.Failure{{Exit: 1}}, RetriedAt: 1, RetryEpoch: 2}
	var r grid.EntryRecord
	r.ID.Task.Index = v.Index
	Record(&r, v, true)
	if same, got := Recorded(s, &r); same != &r || !reflect.DeepEqual(got, v) || !r.Committed || r.State != grid.Ended {
		t.Errorf("%+v is read as\n%+v, want\n%+v", r, got, v)
	}
}

// An open entry is read as it is; one that is impossible, or of another task, as if there were none, and the record of
// the caller is left alone.
func TestAnOpenEntryIsReadIfItIsPossible(t *testing.T) {
	s := &grid.JobSpec{Count: 9, Retries: 1}
	s.Rules.OnFailure.Retry = 1
	open := grid.Entry{Index: 3, Epoch: 1, Attempt: grid.Attempt{Epoch: 1, N: 1}, Again: 1,
		Result: &grid.Result{Cause: grid.Exited, Exit: 1}}
	for _, c := range []struct {
		change   func(*grid.Entry)
		possible bool
	}{
		{func(*grid.Entry) {}, true},
		{func(e *grid.Entry) { e.Index = 4 }, false},
		{func(e *grid.Entry) { e.Round = 7 }, false},
	} {
		e := with(&open, c.change)
		r := grid.EntryRecord{Open: &e}
		r.ID.Task.Index = 3
		got, v := Recorded(s, &r)
		if (v == &e) != c.possible || (got.Open == &e) != c.possible || r.Open != &e {
			t.Errorf("%+v: read as %+v, the record has %+v", e, v, got.Open)
		}
	}
}

func TestWhatIsKeptOfFailures(t *testing.T) {
	final := &grid.Entry{Done: 10, Failures: []grid.Failure{{Exit: 1}}, Result: &grid.Result{Cause: grid.Exited, Exit: 2}}
	if past, last, again := Kept(final, false); len(past) != 1 || last != nil || again != 0 {
		t.Errorf("of a final end: %v, %v, %d", past, last, again)
	}
	open := with(final, func(e *grid.Entry) { e.Again = 5 })
	if past, last, again := Kept(&open, true); len(past) != 2 || last != final.Result || again != 15 {
		t.Errorf("of an open one: %v, %v, %d", past, last, again)
	}
	if _, _, again := Kept(&open, false); again != 0 {
		t.Errorf("once an attempt was made the next may start at %d", again)
	}
}

// A clock that was set back does not lengthen the wait.
func TestTheWaitIsNeverLonger(t *testing.T) {
	e := &grid.Entry{Done: 100, Again: 50}
	for wall, want := range map[int64]time.Duration{100: 50, 120: 30, 170: -20, 0: 50} {
		if got := Left(e, wall); got != want {
			t.Errorf("at %d it waits for %d, want %d", wall, got, want)
		}
	}
}

func TestHowALostTaskEnds(t *testing.T) {
	again, once := &grid.JobSpec{Retries: 1}, &grid.JobSpec{}
	why := grid.Refusal{Why: grid.WhyLost, Detail: "gone"}
	for _, c := range []struct {
		s          *grid.JobSpec
		struck     string
		unprepared bool
		want       string
	}{
		{again, "", false, "lost: the node that ran it " + grid.WhyLost.String() + ": gone"},
		{again, "it failed on 3 nodes", true, "lost: it failed on 3 nodes"},
		{again, "", true, "gone"},
		{once, "", true, "gone; " + once.OnceReason()},
	} {
		if r := Lost(c.s, why, c.struck, c.unprepared); r.Error != c.want || r.Cause != grid.Lost || r.Exit != grid.ExitSkep {
			t.Errorf("%q, unprepared %v: %+v, want %q", c.struck, c.unprepared, r, c.want)
		}
	}
	for cause, want := range map[grid.Cause]grid.Why{grid.Lost: grid.WhyLost, grid.NotFound: grid.WhyProgram,
		grid.CannotExecute: grid.WhyProgram, grid.Exited: grid.WhyFailed} {
		if got := GivenUp(&grid.Result{Cause: cause, Error: "x"}); got != (grid.Refusal{Why: want, Detail: "x"}) {
			t.Errorf("cause %v: %+v", cause, got)
		}
	}
}
