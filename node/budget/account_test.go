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

// owner is what an account asks: the register, who looks, and which attempts are out.
type owner struct {
	entry *grid.Entry
	looks []grid.Time
	out   map[uint32][2]grid.Attempt
}

func (o *owner) AttemptsOf(i uint32) [2]grid.Attempt { return o.out[i] }

// has says which attempts of a task are out, and has the account follow that.
func (o *owner) has(a *Account, now grid.Time, i uint32, out ...uint32) {
	var x [2]grid.Attempt
	for k, n := range out {
		x[k] = grid.Attempt{Epoch: 1, N: n}
	}
	if o.out == nil {
		o.out = make(map[uint32][2]grid.Attempt)
	}
	o.out[i] = x
	a.Changed(i)
	a.follow(now)
}

func (o *owner) Value(uint32) (*grid.Entry, bool) { return o.entry, true }

func (o *owner) Add(at grid.Time, _ grid.JobID, _ *grid.Effects) { o.looks = append(o.looks, at) }

func (o *owner) open(now grid.Time, seconds grid.Budget) *Account {
	spec := &grid.JobSpec{Count: 10}
	spec.Rules.Budget = seconds
	return Open(now, int64(now), Job{Spec: spec, Every: every, Looks: o, Attempts: o}, o)
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
	a.Ended(12*second, x, 5*time.Second, &fx) // the time for which it was suspended included
	used(t, a, 20*second, 2*time.Second)
	a.Ended(21*second, x, 9*time.Second, &fx) // repeated
	a.Note(22*second, x, true, 0, &fx)        // late
	used(t, a, 30*second, 2*time.Second)

	// one whose start came too late
	z := attemptID(5, 1)
	a.Reserve(20*second, z, 0, &fx)
	a.Note(21*second, z, true, 0, &fx)
	a.Note(29*second, z, false, 0, &fx)
	used(t, a, 30*second, 2*time.Second)
	a.Ended(30*second, z, 0, &fx)

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

// What is given up counts until then, if it ran, and is reserved no more.
func TestAttemptsThatAreGivenUp(t *testing.T) {
	var o owner
	var fx grid.Effects
	a, x, y := o.open(0, 100), attemptID(1, 1), attemptID(2, 1)
	a.Reserve(0, x, 50*time.Second, &fx)
	a.Reserve(0, y, 50*time.Second, &fx)
	a.Note(2*second, x, true, 0, &fx)
	a.Note(2*second, y, false, 0, &fx)
	if a.Pays(4*second, 1, time.Second) {
		t.Error("all is reserved, and a further attempt is paid")
	}
	if why := a.Refusal(4*second, time.Second); why.Why != grid.WhyBudget ||
		why.Detail != "4 of 100 node-seconds are used, and 96 more are kept for what runs; it is expected to take 1s" {
		t.Errorf("it waits since %+v", why)
	}
	o.has(a, 10*second, 1)
	o.has(a, 10*second, 2)
	used(t, a, 60*second, 10*time.Second)
	for _, x := range []struct {
		attempts int
		expected time.Duration
		want     bool
	}{{3, 30 * time.Second, true}, {3, 31 * time.Second, false}, {1, 90 * time.Second, true}, {1, 91 * time.Second, false},
		{7, 0, true}} {
		if a.Pays(60*second, x.attempts, x.expected) != x.want {
			t.Errorf("90 seconds are left: %d attempts of %v are paid: %v", x.attempts, x.expected, !x.want)
		}
	}
	if a.Exhausted(60 * second) {
		t.Error("it is exhausted, with 90 seconds left")
	}
	a.Close()
	if !a.Exhausted(60*second) || a.Pays(60*second, 1, 0) {
		t.Error("a closed budget pays")
	}
	if r := a.End(60 * second); r.Cause != grid.Unaffordable || r.Exit != 123 ||
		!strings.Contains(r.Error, "the rest was not expected to suffice") {
		t.Errorf("it ends as %+v", r)
	}
}

// Regression: an attempt that its worker refused stayed in the account, reserved and out, as long as the task had no
// newer one. What waited for the budget waited for ever.
func TestWhatIsOutIsWhatTheOwnerSays(t *testing.T) {
	var o owner
	var fx grid.Effects
	a := o.open(0, 100)
	a.Reserve(0, attemptID(1, 1), 60*time.Second, &fx)
	o.has(a, 0, 1, 1)
	if a.Out() != 1 || a.Pays(0, 1, 60*time.Second) {
		t.Fatalf("%d are out: want one, and its 60 of 100 seconds reserved", a.Out())
	}
	o.has(a, second, 1) // refused
	if a.Out() != 0 || a.Has(1, grid.Attempt{Epoch: 1, N: 1}) || !a.Pays(second, 1, 100*time.Second) {
		t.Errorf("%d are out, with %v left: want none, and all of it", a.Out(), a.left(second))
	}
	// two of a task, of which neither was made by this owner, and one of them goes
	o.has(a, 2*second, 3, 4, 5)
	a.Note(4*second, attemptID(3, 5), true, 0, &fx)
	o.has(a, 6*second, 3, 5)
	if a.Out() != 1 || !a.Has(3, grid.Attempt{Epoch: 1, N: 5}) || a.runs != 1 {
		t.Errorf("%d are out, %d run: want the backup attempt, which runs", a.Out(), a.runs)
	}
	o.has(a, 8*second, 3)
	used(t, a, 60*second, 8*time.Second)
	if a.reserved != 0 || a.runs != 0 || a.started != 0 {
		t.Errorf("nothing is out, and %v is reserved, %d run since %v", a.reserved, a.runs, a.started)
	}
}

// What runs longer than expected takes from what is left beside what is kept for the others.
func TestOneThatTakesLonger(t *testing.T) {
	var o owner
	var fx grid.Effects
	a := o.open(0, 200)
	for i := range uint32(2) {
		a.Reserve(0, attemptID(i, 1), 60*time.Second, &fx)
	}
	a.Note(0, attemptID(0, 1), true, 0, &fx)
	a.Note(90*second, attemptID(0, 1), true, 0, &fx)
	if a.Pays(90*second, 1, 51*time.Second) || !a.Pays(90*second, 1, 50*time.Second) {
		t.Errorf("%v are left of 200 s: want 50, as one has taken 90 and the other may take 60", a.left(90*second))
	}
	a.Note(100*second, attemptID(0, 1), true, 30*time.Second, &fx) // it was suspended
	a.Ended(100*second, attemptID(0, 1), 100*time.Second, &fx)     // which includes that
	if !a.Pays(100*second, 1, 70*time.Second) || a.reserved != 60*time.Second {
		t.Errorf("%v are left of 200 s, %v are reserved: want 70 and 60", a.left(100*second), a.reserved)
	}
}

// Many changes are followed at once: the owner is told of the first since the last time.
func TestChanges(t *testing.T) {
	var o owner
	var fx grid.Effects
	a := o.open(0, 100)
	if !a.Changed(1) || a.Changed(1) || a.Changed(2) {
		t.Error("the first change is not the first")
	}
	a.Settle(0, 0, &o, false, &fx)
	if !a.Changed(2) {
		t.Error("the first change after a look is not the first")
	}
}

// While attempts are out the owner looks every two seconds, and when the budget is used up.
func TestLooks(t *testing.T) {
	var o owner
	var fx grid.Effects
	a := o.open(0, 5)
	for i := range uint32(2) {
		a.Reserve(0, attemptID(i, 1), 0, &fx)
		o.has(a, 0, i, 1)
		a.Note(0, attemptID(i, 1), true, 0, &fx)
	}
	a.Settle(2*second, 0, &o, false, &fx)
	if k := len(o.looks); k != 2 || o.looks[0] != 2*second || o.looks[1] != 2*second+second/2+1 {
		t.Errorf("it looks at %v: want after 2 s, and when 5 s are used by two", o.looks)
	}
	if a.Exhausted(2*second) || !a.Exhausted(o.looks[1]) {
		t.Error("two have used 5 seconds after 2.5")
	}
	// nothing more is due of one that is exhausted, or of which nothing is out
	a.Settle(o.looks[1], 0, &o, false, &fx)
	b := o.open(3*second, 5)
	b.Settle(3*second, 0, &o, false, &fx)
	if len(o.looks) != 2 {
		t.Errorf("it looks at %v as well", o.looks[2:])
	}
	// a look that was missed is made up for
	c := o.open(0, 100)
	c.Reserve(0, attemptID(1, 1), 0, &fx)
	c.Note(10*second, attemptID(1, 1), true, 0, &fx)
	if k := len(o.looks); k != 4 || o.looks[3] != 12*second {
		t.Errorf("it looks at %v: want at 12 s, as the look of 2 s was not made", o.looks[2:])
	}
}

// A new owner counts on from what the register says.
func TestEntries(t *testing.T) {
	var o owner
	var fx grid.Effects
	a, x, y := o.open(0, 160), attemptID(1, 1), attemptID(2, 1)
	a.Reserve(0, x, 0, &fx)
	a.Note(0, x, true, 0, &fx)
	if e := a.Settle(9*second, int64(9*second), &o, false, &fx); e != nil {
		t.Errorf("9 of 160 seconds are written: %+v", e)
	}
	for k, at := range []grid.Time{10, 20} {
		e := a.Settle(at*second, int64(at*second), &o, false, &fx)
		if e == nil || e.Used != time.Duration(at*second) || e.Round != uint32(k) || !e.Open() || e.Index != 11 {
			t.Fatalf("after %d seconds: %+v", at, e)
		}
		if o.entry = e; k == 1 {
			if again := a.Settle(at*second, int64(at*second), &o, false, &fx); again == nil {
				t.Error("what was not written is taken as written")
			}
		}
		a.Written(e)
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
	if !a.Pays(0, 1, time.Hour) || a.Exhausted(0) || len(o.looks) > 0 {
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

// Regression: an owner whose machine had slept found the budget used up by what had ended long ago, before it had heard
// the results that the workers repeat.
func TestOwnerThatSlept(t *testing.T) {
	var o owner
	var fx grid.Effects
	a, x, y := o.open(0, 60), attemptID(0, 1), attemptID(1, 1)
	for _, id := range []grid.AttemptID{x, y} {
		a.Reserve(0, id, 0, &fx)
		o.has(a, 0, id.Task.Index, 1)
		a.Note(0, id, true, 0, &fx)
	}
	a.Settle(0, 0, &o, false, &fx)
	const awake = 1000 * second
	if a.Exhausted(awake) || a.Pays(awake, 1, 0) {
		t.Errorf("awake again: exhausted %v, want what runs to be asked first, and nothing begun", a.Exhausted(awake))
	}
	a.Settle(awake, int64(awake), &o, false, &fx)
	a.Ended(awake, x, 10*time.Second, &fx)
	if a.Exhausted(awake+3*second) || o.looks[len(o.looks)-1] > awake+4*second {
		t.Errorf("3 s later: exhausted %v, and it looks at %v", a.Exhausted(awake+3*second), o.looks)
	}
	if !a.Exhausted(awake + 4*second) {
		t.Error("the other attempt still runs, after 1000 of 60 s")
	}
	b := o.open(0, 60)
	o.has(b, 0, 2, 1)
	b.Note(0, attemptID(2, 1), true, 0, &fx)
	b.Note(awake, attemptID(2, 1), true, 0, &fx) // the worker's news is the first that it hears
	if b.Exhausted(awake+second) || !b.Exhausted(awake+4*second) {
		t.Error("it is woken by news: want 4 s for further ones, then an end")
	}
	b.Ended(awake+second, attemptID(2, 1), 100*time.Second, &fx)
	if !b.Exhausted(awake + second) {
		t.Error("a result says that all is used, and more is waited for")
	}
}

// An owner each of whose looks is late by more than one, as in a machine that runs in bursts, judges what runs all the
// same: at the third look that finds the budget used up. One that has heard meanwhile that less is used starts anew.
func TestOwnerThatIsStoppedAgainAndAgain(t *testing.T) {
	for _, hears := range []bool{false, true} {
		var o owner
		var fx grid.Effects
		a, x := o.open(0, 10), attemptID(0, 1)
		o.has(a, 0, 0, 1)
		a.Note(0, x, true, 0, &fx)
		a.Settle(0, 0, &o, false, &fx)
		over := 0 // looks that find the budget used up
		for now := 4500 * grid.Time(time.Millisecond); over < 3; now = now.Add(every + 2500*time.Millisecond) {
			if a.Settle(now, int64(now), &o, false, &fx); a.Used(now) >= a.budget {
				over++
			}
			if got, want := a.Exhausted(now), over == 3; got != want {
				t.Fatalf("at %v, %v used: exhausted %v, want that at the third look that finds so much, this is the %d.",
					time.Duration(now), a.Used(now), got, over)
			}
			if hears && over == 2 { // it was suspended nearly all of the time
				a.Note(now, x, true, now.Sub(0)-time.Second, &fx)
				used(t, a, now, time.Second)
				hears, over = false, 0
			}
		}
	}
}

// What is given up as its owner wakes, since its worker cannot be reached, counts until the owner was stopped; what its
// worker has said to run since then counts until now.
func TestAttemptsThatAreGivenUpAtTheWake(t *testing.T) {
	for _, heard := range []bool{false, true} {
		var o owner
		var fx grid.Effects
		a, x := o.open(0, 60), attemptID(0, 1)
		o.has(a, 0, 0, 1)
		a.Note(0, x, true, 0, &fx)
		const awake, last = 1000 * second, 2 * time.Second
		want := last
		if heard {
			want = 1001 * time.Second
			a.Note(awake+second, x, true, 0, &fx)
		}
		a.Settle(awake+second, 0, &o, false, &fx)
		o.has(a, awake+second, 0)
		used(t, a, awake+second, want)
	}
}

// The result of an attempt that was given up replaces what was supposed of it. One that is taken back goes on from
// there.
func TestResultOfOneThatWasGivenUp(t *testing.T) {
	var o owner
	var fx grid.Effects
	a, x := o.open(0, 60), attemptID(0, 1)
	o.has(a, 0, 0, 1)
	a.Note(2*second, x, true, 0, &fx)
	o.has(a, 10*second, 0)
	used(t, a, 20*second, 10*time.Second)
	a.Ended(20*second, x, 4*time.Second, &fx)
	used(t, a, 20*second, 4*time.Second)
	o.has(a, 20*second, 0)
	used(t, a, 30*second, 4*time.Second)

	b := o.open(0, 60)
	o.has(b, 0, 0, 1)
	b.Note(2*second, x, false, 0, &fx)
	b.Note(4*second, x, true, 0, &fx)
	b.Note(6*second, x, true, time.Second, &fx)
	o.has(b, 10*second, 0)
	used(t, b, 20*second, 7*time.Second)
	o.has(b, 20*second, 0, 1)
	b.Note(20*second, x, true, 0, &fx)
	used(t, b, 20*second, 17*time.Second)
	b.Ended(20*second, x, 15*time.Second, &fx)
	used(t, b, 20*second, 14*time.Second)
	if b.reserved != 0 || b.runs != 0 || b.started != 0 || len(b.gone) != 0 {
		t.Errorf("nothing runs, and %v is reserved, %d run since %v", b.reserved, b.runs, b.started)
	}
}

// Until an owner that was stopped has heard the workers it starts what the rest pays if all that ran has run on.
func TestOwnerThatSleptPaysFromTheRest(t *testing.T) {
	var o owner
	var fx grid.Effects
	a := o.open(0, 1000)
	o.has(a, 0, 0, 1)
	a.Note(0, attemptID(0, 1), true, 0, &fx)
	a.Settle(0, 0, &o, false, &fx)
	const awake = 100 * second
	for expected, want := range map[time.Duration]bool{900 * time.Second: true, 901 * time.Second: false} {
		if got := a.Pays(awake, 1, expected); got != want {
			t.Errorf("100 of 1000 s may be used: an attempt of %v is paid: %v", expected, got)
		}
	}
}

// Of a job that is over all that it has used is written, so that one that is opened again has it.
func TestAllIsWrittenAtTheEnd(t *testing.T) {
	var o owner
	var fx grid.Effects
	a, x := o.open(0, 1600), attemptID(0, 1)
	a.Reserve(0, x, 0, &fx)
	o.has(a, 0, 0, 1)
	a.Note(0, x, true, 0, &fx)
	a.Ended(2*second, x, 2*time.Second, &fx)
	o.has(a, 2*second, 0)
	if e := a.Settle(2*second, 0, &o, false, &fx); e != nil {
		t.Errorf("2 of 1600 seconds are written, and the job goes on: %+v", e)
	}
	e := a.Settle(2*second, 0, &o, true, &fx)
	if e == nil || e.Used != 2*time.Second {
		t.Fatalf("at the end %+v is written, want 2 s", e)
	}
	if a.Written(e); a.Settle(2*second, 0, &o, true, &fx) != nil {
		t.Error("it is written twice")
	}
}

// What the register says is corrected once the results come of attempts of which it was supposed that they ran on.
func TestRegisterIsCorrected(t *testing.T) {
	for _, over := range []bool{false, true} {
		var o owner
		var fx grid.Effects
		a, x := o.open(0, 160), attemptID(0, 1)
		a.Reserve(0, x, 0, &fx)
		o.has(a, 0, 0, 1)
		a.Note(0, x, true, 0, &fx)
		if o.entry = a.Settle(20*second, 0, &o, false, &fx); o.entry == nil || o.entry.Used != 20*time.Second {
			t.Fatalf("after 20 s %+v is written", o.entry)
		}
		a.Written(o.entry)
		a.Ended(21*second, x, 2*time.Second, &fx)
		o.has(a, 21*second, 0)
		e := a.Settle(21*second, 0, &o, over, &fx)
		if e == nil || e.Used != 2*time.Second || e.Round != o.entry.Round+1 {
			t.Errorf("over %v: %+v is written, want the 2 s for which it ran", over, e)
		}
	}
	// nothing was used: an entry of 0 would be none
	var o owner
	var fx grid.Effects
	o.entry = &grid.Entry{Used: 20 * time.Second}
	a := o.open(0, 160)
	a.ended = 0
	if e := a.Settle(0, 0, &o, true, &fx); e == nil || e.Used != 1 {
		t.Errorf("%+v is written", e)
	}
}

// What is made in the place of all that is out has what these have not used.
func TestAttemptsInThePlaceOfOthers(t *testing.T) {
	var o owner
	var fx grid.Effects
	a := o.open(0, 100)
	for i := range uint32(2) {
		a.Reserve(0, attemptID(i, 1), 50*time.Second, &fx)
		o.has(a, 0, i, 1)
		a.Note(0, attemptID(i, 1), true, 0, &fx)
	}
	if a.Pays(10*second, 1, time.Second) || !a.PaysInstead(10*second, 2, 40*time.Second) ||
		a.PaysInstead(10*second, 2, 41*time.Second) || a.PaysInstead(10*second, 3, 30*time.Second) {
		t.Error("20 of 100 s are used, 80 reserved: want 2 of 40 s to be paid in the place of what runs")
	}
	if !(*Account)(nil).PaysInstead(0, 9, time.Hour) {
		t.Error("a job without a budget does not pay")
	}
}
