package exec

import (
	"math"
	"testing"

	"skep/grid"
)

// The last of many slots is free when the longest work has ended, one of many when the first has. Slots that are kept
// count as free.
func TestUntilFree(t *testing.T) {
	law := func(class string) (mean, scv float64) {
		if class == "long" {
			return 600, 1
		}
		return 2, 1
	}
	e := new(New(grid.Resources{CPU: 4 * grid.CPU}))
	slot := grid.Resources{CPU: grid.CPU}
	want := func(slots int, s float64) {
		t.Helper()
		if got := e.UntilFree(0, grid.JobID{Nonce: [10]byte{99}}, slot, slots, law); math.Abs(got-s) > 0.01*s {
			t.Errorf("%d slots in %g s: want %g", slots, got, s)
		}
	}
	want(4, 0)
	for i, class := range []string{"long", "short", "short"} {
		e.Accept(0, id(i), offer(grid.CPU, 0, class), true)
		e.Next(0)
	}
	e.Hold(slot)
	want(1, 0)
	want(2, 1)
	want(3, 3)
	want(4, 603)
	if got := e.UntilFree(0, id(0).Task.Job, slot, 4, law); got != 3 {
		t.Errorf("4 slots in %g s for the job of the long work: want 3", got)
	}
	e.FinishStopping(id(0), &grid.Result{})
	want(4, 1.0/3+1+2)
}
