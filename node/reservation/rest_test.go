package reservation

import (
	"testing"

	"skep/grid"
)

const share = " keeps as many slots for this owner as it may"

// An owner whose old gang takes the slots of others and releases them at once rests longer each time, up to a time to
// live.
func TestWoundsAreNotForNothing(t *testing.T) {
	w := newWorld(t)
	wounds, round := 0, uint32(0)
	for s := 0.0; s < 100; s += 0.01 {
		round++
		if w.ask(s, "b1", 3, round, false); w.said() == "b1 3" {
			w.askAged(s, "a1", maxAge, 4, round, false)
			if w.said() == "b1 0 has given its slots to an older gang (a1); a1 4" {
				wounds++
			}
			w.ask(s+0.001, "a1", 0, round, false)
		}
	}
	if wounds != 16 {
		t.Errorf("%d gangs are wounded in 100 s: want 16, the last of them 10 s after one another", wounds)
	}
}

// One that takes free slots and releases them at once rests for a moment, while others want some.
func TestLeastRest(t *testing.T) {
	w := newWorld(t)
	w.ask(0, "a1", 4, 1, false)
	w.ask(0.01, "a1", 0, 1, false)
	w.want("nobody else wants any", w.ask(0.02, "a1", 1, 2, false), "a1 1")
	w.ask(0.03, "a1", 0, 2, false)
	w.ask(0.04, "b1", 5, 1, false)
	w.want("another one wants some", w.ask(0.12, "a1", 1, 3, false), "a1 1"+share)
	w.want("it has rested", w.ask(0.13, "a1", 1, 4, false), "a1 1")
}

// A short rest does not end a longer one.
func TestLongestRestCounts(t *testing.T) {
	w := newWorld(t)
	w.ask(0, "a1", 4, 1, false)
	w.ask(9, "a1", 0, 1, false) // rests until 18
	w.ask(9, "a1", 1, 2, false)
	w.ask(10, "a1", 0, 2, false)
	w.ask(11, "b1", 5, 1, false)
	w.want("within the first rest", w.ask(17, "a1", 1, 3, false), "a1 1"+share)
	w.want("after it", w.ask(18, "a1", 1, 4, false), "a1 1")
}

// A gang that uses the slots which it took from another one has not taken them in vain: the next rest is short again.
func TestUsedSlotsEndTheGrowth(t *testing.T) {
	w := newWorld(t)
	take := func(s float64, round uint32) {
		w.ask(s, "b1", 4, round, false)
		w.askAged(s, "a1", maxAge, 1, round, false)
		w.want("it wounds", w.said(), "b1 0 has given its slots to an older gang (a1); a1 1")
	}
	for i, s := range []float64{0, 1, 2} {
		take(s, uint32(i+1))
		w.ask(s, "a1", 0, uint32(i+1), false)
	}
	take(3, 4)
	w.take(3, "a1", 4)
	w.e.Unhold(grid.Resources{CPU: grid.CPU})
	take(4, 5)
	w.ask(4, "a1", 0, 5, false)
	w.ask(4, "b1", 5, 6, false)
	w.want("it has rested", w.ask(4.2, "a1", 1, 6, false), "a1 1")
}
