package rates

import (
	"math"
	"testing"
	"time"

	"skep/grid"
)

// Without results a run is expected to take of a budget what its process does, by the runs here, and not the time that
// passes until it starts and until its output is there, which execution rates include.
func TestProcessTime(t *testing.T) {
	var fx grid.Effects
	e := measuring()
	process := func(level string, want float64) {
		t.Helper()
		if got := e.ProcessTime(level, nobody); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %g s are expected of a process, want %g", level, got, want)
		}
	}
	process("a", 0)
	e.Ran(grid.Time(time.Second), "a", 0.9, &fx)
	process("a", 0.9)
	e.RanFor("a", 0.6, 0.9)
	process("a", 0.6)
	e.Ran(grid.Time(2*time.Second), "a", 0.9, &fx)
	e.RanFor("a", 30, 0.9) // more than can be
	process("a", 0.75)
	e.RanFor("a", 0, 0.9) // an engine that does not say
	process("a", 0.75)
	e.RanFor("b", 1, 2) // of which nothing else is known
	process("b", 0)
	if got := e.Expected("a", nobody); math.Abs(got-0.9) > 1e-9 {
		t.Errorf("a run is expected to take its place for %g s, want 0.9", got)
	}
	for range minEnds {
		e.Ended("a", 0.5)
	}
	process("a", 0.5)
}
