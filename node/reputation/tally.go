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
	w := faded(t.at, now, recordHalfLife)
	t.good, t.bad, t.at = t.good*w, t.bad*w, max(t.at, now)
}

// faded is the part that is left at a time of what was counted before; the half-life is in seconds.
func faded(at, now grid.Time, halfLife float64) float64 {
	if d := now.Sub(at).Seconds(); d > 0 {
		return math.Exp2(-d / halfLife)
	}
	return 1
}

func (t *endTally) add(now grid.Time, good bool) {
	t.decay(now)
	if good {
		t.good++
	} else {
		t.bad++
	}
}
