package budget

import (
	"strings"
	"testing"
	"time"

	"skep/grid"
)

const (
	second = grid.Time(time.Second)
	every  = 2 * time.Second
)

// owner is what an account asks: the register, and who looks.
type owner struct {
	entry *grid.Entry
	looks []grid.Time
}

func (o *owner) Value(uint32) (*grid.Entry, bool) { return o.entry, true }

func (o *owner) Add(at grid.Time, _ grid.JobID, _ *grid.Effects) { o.looks = append(o.looks, at) }

func (o *owner) open(now grid.Time, seconds grid.Budget) *Account {
	spec := &grid.JobSpec{Count: 10}
	spec.Rules.Budget = seconds
	return Open(now, int64(now), Job{Spec: spec, Every: every, Looks: o}, o)
}

func attemptID(i, n uint32) grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Index: i}, Attempt: grid.Attempt{Epoch: 1, N: n}}
}

func used(t *testing.T, a *Account, now grid.Time, want time.Duration) {
	t.Helper()
	if got := a.Used(now); got != want {
		t.Errorf("at %v: %v are used, want %v", time.Duration(now), got, want)
	}
}

// An attempt counts since it was last known to wait; its result says how long it ran.
func TestAttemptsThatEnd(t *testing.T) {
	var o owner
	var fx grid.Effects
	a, x := o.open(0, 100), attemptID(1, 1)
	a.Reserve(second, x, 0, &fx)
	used(t, a, 5*second, 0)
	a.Note(5*second, x, false, 0, &fx)
	a.Note(7*second, x, true, 0, &fx)
	used(t, a, 9*second, 4*time.Second)
	a.Note(11*second, x, true, 3*time.Second, &fx) // it was suspended meanwhile
	used(t, a, 11*second, 3*time.Second)
	a.Ended(12*second, x, 2*time.Second, &fx)
	used(t, a, 20*second, 2*time.Second)
	a.Ended(21*second, x, 9*time.Second, &fx) // repeated
	a.Note(22*second, x, true, 0, &fx)        // late
	used(t, a, 30*second, 2*time.Second)

	// one that was never heard of, and a worker that says more or less than can be
	a.Ended(30*second, attemptID(2, 1), 5*time.Second, &fx)
	used(t, a, 30*second, 7*time.Second)
	y := attemptID(3, 1)
	a.Reserve(30*second, y, 0, &fx)
	a.Ended(34*second, y, time.Hour, &fx)
	used(t, a, 34*second, 11*time.Second)
	a.Ended(34*second, attemptID(4, 1), -time.Hour, &fx)
	used(t, a, 34*second, 11*time.Second)
}

// What is given up counts until the look that finds it so; what never ran does not count.
func TestAttemptsThatAreGivenUp(t *testing.T) {
	var o owner
	var fx grid.Effects
	a, x, y := o.open(0, 100), attemptID(1, 1), attemptID(2, 1)
	a.Reserve(0, x, 50*time.Second, &fx)
	a.Reserve(0, y, 50*time.Second, &fx)
	a.Note(2*second, x, true, 0, &fx)
	a.Note(2*second, y, false, 0, &fx)
	if _, lacks := a.Lacks(4*second, 1, time.Second, &fx); !lacks {
		t.Error("all is reserved, and a further attempt is paid")
	}
	a.Settle(10*second, 0, func(Key) bool { return false }, &o, &fx)
	used(t, a, 60*second, 10*time.Second)
	if _, lacks := a.Lacks(60*second, 3, 30*time.Second, &fx); lacks || a.Exhausted(60*second) {
		t.Error("nothing is out, and three times 30 of the 90 seconds left are not paid")
	}
	// nothing is out that could change it
	if why, lacks := a.Lacks(60*second, 3, 31*time.Second, &fx); !lacks || !a.Exhausted(60*second) ||
		!strings.Contains(why.Detail, "10 of 100 node-seconds are used") {
		t.Errorf("three times 31 seconds of 90: %v %+v", lacks, why)
	}
	if r := a.End(60 * second); r.Cause != grid.Unaffordable || r.Exit != 123 ||
		!strings.Contains(r.Error, "the rest was not expected to suffice") {
		t.Errorf("it ends as %+v", r)
	}
}

// While attempts are out the owner looks every two seconds, and when the budget is used up.
func TestLooks(t *testing.T) {
	var o owner
	var fx grid.Effects
	a := o.open(0, 5)
	lives := func(Key) bool { return true }
	a.Reserve(0, attemptID(1, 1), 0, &fx)
	a.Note(0, attemptID(1, 1), true, 0, &fx)
	a.Reserve(0, attemptID(2, 1), 0, &fx)
	a.Note(0, attemptID(2, 1), true, 0, &fx)
	a.Settle(2*second, 0, lives, &o, &fx)
	if k := len(o.looks); k != 2 || o.looks[0] != 2*second || o.looks[1] != 2*second+second/2+1 {
		t.Errorf("it looks at %v: want after 2 s, and when 5 s are used by two", o.looks)
	}
	if a.Exhausted(2*second) || !a.Exhausted(o.looks[1]) {
		t.Error("two have used 5 seconds after 2.5")
	}
}

// A new owner counts on from what the register says.
func TestEntries(t *testing.T) {
	var o owner
	var fx grid.Effects
	a, x, y := o.open(0, 160), attemptID(1, 1), attemptID(2, 1)
	all := func(Key) bool { return true }
	a.Reserve(0, x, 0, &fx)
	a.Note(0, x, true, 0, &fx)
	if e := a.Settle(9*second, int64(9*second), all, &o, &fx); e != nil {
		t.Errorf("9 of 160 seconds are written: %+v", e)
	}
	for k, at := range []grid.Time{10, 20} {
		e := a.Settle(at*second, int64(at*second), all, &o, &fx)
		if e == nil || e.Used != time.Duration(at*second) || e.Round != uint32(k) || !e.Open() || e.Index != 11 {
			t.Fatalf("after %d seconds: %+v", at, e)
		}
		o.entry = e
	}
	b := o.open(100*second, 160)
	used(t, b, 100*second, 20*time.Second)
	b.Note(101*second, x, true, 0, &fx) // it ran without an owner for 8 seconds
	used(t, b, 102*second, 30*time.Second)
	b.Ended(102*second, x, 102*time.Second, &fx) // of which 20 are in the entry, which was made 82 seconds ago
	used(t, b, 102*second, 102*time.Second)
	b.Note(102*second, y, false, 0, &fx)
	b.Note(104*second, y, true, 0, &fx)
	used(t, b, 104*second, 104*time.Second)
}

func TestNoBudget(t *testing.T) {
	var o owner
	a := o.open(0, 0)
	a.Reserve(0, attemptID(1, 1), time.Hour, nil)
	a.Note(0, attemptID(1, 1), true, 0, nil)
	a.Ended(0, attemptID(1, 1), time.Hour, nil)
	if _, lacks := a.Lacks(0, 1, time.Hour, nil); lacks || a.Exhausted(0) || len(o.looks) > 0 {
		t.Error("a job without a budget is bounded")
	}
}

func TestImpossible(t *testing.T) {
	for _, x := range []struct {
		budget  grid.Budget
		fastest float64
		want    string
	}{
		{0, 60, ""}, {600, 60, ""}, {599, 0, ""},
		{599, 60, "budget.node_seconds 599: cannot suffice: its 10 tasks are expected to take 600 node-seconds"},
	} {
		spec := &grid.JobSpec{Count: 10}
		spec.Rules.Budget = x.budget
		if got := Impossible(spec, "sim", x.fastest); (got == "") != (x.want == "") || !strings.HasPrefix(got, x.want) {
			t.Errorf("%+v: %q", x, got)
		}
	}
}
