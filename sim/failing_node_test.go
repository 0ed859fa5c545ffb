package sim

import (
	"testing"
	"time"

	"skep/grid"
)

// One node of five fails every task within a millisecond, and so always has the earliest expected completion. Each
// origin pays for what it learns with a few tasks; nearly all others succeed, and if the node cannot execute them, all
// do.
func TestPoisonedNode(t *testing.T) {
	for _, x := range []struct {
		name string
		ends Ending
		most int // failed tasks of 300
		runs int // wasted attempts
	}{
		{"cannot execute", Ending{Cause: grid.CannotExecute, Exit: grid.ExitCannotExecute}, 0, 20},
		{"exits with 1", Ending{Exit: 1}, 16, 10},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := lab()
			c.Machine.Rate = func(_ string, n int) float64 { return []float64{1, 1, 1, 1000, 1}[n] }
			c.Machine.Size = Exponential()
			c.Machine.End = func(_ grid.AttemptID, _ string, n int) Ending {
				if n == 3 {
					return x.ends
				}
				return Ending{}
			}
			work(&c, 5*time.Second, 200*time.Millisecond, 300, []int{0, 1, 2, 4}, spec("a", 1, grid.CPU))
			play(t, c, func(t *testing.T, w *World, r Report) {
				there := 0
				for k := range 300 {
					o := w.Outcome(k, 0)
					if o.Worker == 3 {
						there++
					}
				}
				t.Logf("%d failed, %d of these there, %d attempts beyond the first", r.Failed, there, r.Again)
				if r.Failed > x.most || r.Again > x.runs {
					t.Errorf("%d of 300 tasks failed, %d attempts were made again: want at most %d and %d", r.Failed, r.Again, x.most,
						x.runs)
				}
			})
		})
	}
}

// A program that fails everywhere puts no node on a blacklist: the work is distributed as if it did not fail.
func TestProgramFailsEverywhere(t *testing.T) {
	c := lab()
	c.Machine.End = func(grid.AttemptID, string, int) Ending { return Ending{Exit: 1} }
	work(&c, 5*time.Second, 100*time.Millisecond, 200, []int{0, 1, 2, 3, 4}, spec("a", 1, grid.CPU))
	play(t, c, func(t *testing.T, w *World, r Report) {
		ran := [5]int{}
		for k := range 200 {
			ran[w.Outcome(k, 0).Worker]++
		}
		for i, n := range ran {
			if n < 20 {
				t.Errorf("n%d ran %d of 200 tasks of a program that fails everywhere: want about 40, %v", i, n, ran)
			}
		}
	})
}
