package node

import (
	"math"
	"testing"
	"time"

	"skep/grid"
)

// lasting draws run times of a distribution with a mean of 10 s.
var lasting = map[string]struct {
	draw      func(r *grid.Rand) float64
	low, high float64 // bounds of the squared coefficient of variation that a node shall measure
}{
	"deterministic": {func(*grid.Rand) float64 { return 10 }, 0, 0},
	"uniform":       {func(r *grid.Rand) float64 { return 20 * r.Float64() }, 0.25, 0.55}, // 1/3
	"exponential":   {func(r *grid.Rand) float64 { return -10 * math.Log(1-r.Float64()) }, 0.75, 1},
}

// The variation of run times is measured from the runs, whether the means are measured or given, and survives a
// restart.
func TestRunTimeVariationIsLearned(t *testing.T) {
	for _, given := range []bool{false, true} {
		for name, x := range lasting {
			r := newRig(t, func(c *Config) {
				if given {
					c.Given = []grid.Rate{{Class: "c", Mu: 0.1}}
				}
			})
			chance, sum := grid.NewRand(1, 1), 0.0
			const runs, first = 400, 100
			for i := range runs {
				r.n.rates.recordRun(r.now, "c", x.draw(chance))
				if _, scv := r.n.rates.runTime("c"); i >= first {
					sum += scv / (runs - first)
				}
			}
			if sum < x.low || sum > x.high {
				t.Errorf("%s, given %v: c² is on average %.3f, want %g to %g", name, given, sum, x.low, x.high)
			}
		}
	}
}

func TestRunTimeVariationSurvivesRestart(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	for i, d := range []time.Duration{time.Second, 9 * time.Second, 2 * time.Second, 40 * time.Second} {
		r.offer(fastID, foreignAttempt(byte(i)), spec(nil))
		r.now = r.now.Add(d)
		r.step(grid.Event{Kind: grid.EvEnded, Attempt: foreignAttempt(byte(i)), Result: &grid.Result{Cause: grid.Exited, Wall: d}})
	}
	class := grid.ClassOf(spec(nil))
	mean, scv := r.n.rates.runTime(class)
	s := r.restart()
	if m, c := s.n.rates.runTime(class); m != mean || c != scv || scv == 0 {
		t.Errorf("after a restart mean %g and c² %g, before %g and %g", m, c, mean, scv)
	}
	s.n.rates.restore(&grid.ClassRecord{Class: "old", Mean: 2, Count: 5}) // as older versions wrote it
	if m, c := s.n.rates.runTime("old"); m != 2 || c != 0 {
		t.Errorf("an old record gives %g and %g, want 2 and 0", m, c)
	}
}
