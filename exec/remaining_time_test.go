package exec

import (
	"math"
	"testing"

	"skep/grid"
)

// running is a full node of one slot on which a task has run since time zero.
func running() *Exec {
	e := new(New(grid.Resources{CPU: grid.CPU}))
	e.Accept(0, id(0), offer(grid.CPU, 0, "c"), true)
	e.Next(0)
	return e
}

// The remaining time of a running task is its mean less its age where all take equally long, and its mean whatever its
// age where run times are exponential. One that has overrun significantly is not nearly done.
func TestRemainingTimeDependsOnVariation(t *testing.T) {
	need := grid.Resources{CPU: grid.CPU}
	for _, c := range []struct{ scv, age, want float64 }{
		{0, 0, 8}, {0, 3, 5}, {0, 7.9, minRemaining * 8}, {0, 12, 4}, {0, 80, 72},
		{1, 0, 8}, {1, 3, 8}, {1, 8, 8}, {1, 30, 8}, {1, 80, 48},
		{0.5, 4, 6}, {0.5, 8, 4}, {0.5, 12, 4}, {0.5, 80, 60},
	} {
		law := func(string) (mean, scv float64) { return 8, c.scv }
		e := running()
		at := grid.Time(0).Add(grid.Seconds(c.age))
		if w := e.Wait(at, need, law); math.Abs(w-c.want) > 1e-9 {
			t.Errorf("c² %g, after %g of 8 s: %g s left, want %g", c.scv, c.age, w, c.want)
		}
	}
}

// One old run among several long and short ones is not significant, unless it is very old.
func TestMeanOfVariableClass(t *testing.T) {
	law := func(string) (mean, scv float64) { return 8, 1 }
	e := running()
	for age, want := range map[float64]float64{1: 8, 8: 8, 30: 8, 80: 56} {
		if m := e.Mean(grid.Time(0).Add(grid.Seconds(age)), "c", law); math.Abs(m-want) > 1e-9 {
			t.Errorf("at %g s: mean %g, want %g", age, m, want)
		}
	}
}
