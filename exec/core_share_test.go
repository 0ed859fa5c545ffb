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
