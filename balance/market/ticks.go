package market

import (
	"math"
	"slices"
)

// Ticks are the times at which an owner under a protocol with an interval matches what waits: the multiples of the
// interval. Between them nothing is.
type Ticks struct {
	last float64 // that was used
}

// Wait reports whether what waits at a time is to wait for a tick, and how long it is to the next one, in seconds: a
// tick is used once, and only where something waits that came before it.
func (t *Ticks) Wait(p *Protocol, now float64, kinds []Kind) (next float64, waits bool) {
	if p.Interval == 0 {
		return 0, false
	}
	tick := math.Floor(now / p.Interval)
	next = (tick+1)*p.Interval - now
	older := func(k Kind) bool { return now-k.Age < tick*p.Interval }
	if tick == t.last || !slices.ContainsFunc(kinds, older) {
		return next, true
	}
	t.last = tick
	return next, false
}
