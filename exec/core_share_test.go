package exec

import (
	"math"
	"testing"

	"skep/grid"
)

// Four cores of which other users leave two: two tasks lose nothing, four run at half their speed, and each run time
// is counted as if it had run alone.
func TestRunTimeExcludesOtherUsers(t *testing.T) {
	e := new(New(grid.Resources{CPU: 4 * grid.CPU}))
	at := grid.Time(0)
	run := func(n int) *Work {
		e.Accept(at, id(n), offer(grid.CPU, 0, "c"), true)
		return e.Next(at)
	}
	after := func(seconds float64) {
		at = at.Add(grid.Seconds(seconds))
		e.Advance(at)
	}
	want := func(w *Work, seconds float64) {
		t.Helper()
		if got := e.RunTime(at, w); math.Abs(got-seconds) > 1e-9 {
			t.Errorf("at %v it has run for %g s by itself, want %g", at, got, seconds)
		}
	}
	first := run(0)
	after(10)
	want(first, 10)
	e.SetCoreShare(at, 0.5)
	second := run(1)
	after(10)
	want(first, 20)
	want(second, 10)
	if s := e.Speed(grid.CPU); math.Abs(s-2.0/3) > 1e-9 {
		t.Errorf("a third task would get on at %g of its speed, want 2/3", s)
	}
	third, fourth := run(2), run(3)
	after(10)
	for w, s := range map[*Work]float64{first: 25, second: 15, third: 5, fourth: 5} {
		want(w, s)
	}
	e.Finish(third.ID, &grid.Result{})
	e.Finish(fourth.ID, &grid.Result{})
	after(10)
	want(second, 25)
	e.SetCoreShare(at, 1)
	run(4)
	run(5)
	after(10)
	want(first, 45)
}

// Nobody is promised what other users of the cores have: of the half that these leave, two tasks have a quarter each.
func TestLeastSpeedBesideOtherUsers(t *testing.T) {
	b := shared(t, 1, 0.25)
	b.SetCoreShare(0, 0.5)
	for range 4 {
		b.come(0, 1)
	}
	if did := b.next(0); did != "start 1 start 2 " {
		t.Errorf("%s: want two to start, each at a quarter of its speed", did)
	}
	if got := b.SpeedOf(4*grid.UsualBid, grid.CPU); !near(got, 0.25) {
		t.Errorf("a bid that would have to wait runs at %v, want the least speed", got)
	}
	b.SetCoreShare(0, 1)
	if did := b.next(0); did != "start 3 start 4 " {
		t.Errorf("%s: want the others to start when the other users are gone", did)
	}
	b = shared(t, 1, 0.25)
	b.SetCoreShare(0, 0.05)
	b.come(0, 1)
	if did := b.next(0); did != "start 1 " {
		t.Errorf("%s: want what is alone to start", did)
	}
}
