package reputation

import (
	"math"

	"skep/grid"
)

// endTally counts ends, with exponential decay.
type endTally struct {
	good, bad float64
	at        grid.Time
}

// decay applies the decay since the last count; the half-life is recordHalfLife.
func (t *endTally) decay(now grid.Time) {
	if d := now.Sub(t.at).Seconds(); d > 0 {
		w := math.Exp2(-d / recordHalfLife)
		t.good, t.bad, t.at = t.good*w, t.bad*w, now
	}
}

func (t *endTally) add(now grid.Time, good bool) {
	t.decay(now)
	if good {
		t.good++
	} else {
		t.bad++
	}
}
