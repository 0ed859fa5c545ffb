package profile

import (
	"math"
	"testing"
)

func TestAvailabilityIsTheProductOfBothShares(t *testing.T) {
	n := started(t)
	for _, c := range []struct{ idle, up, want float64 }{
		{1, 1, 1}, {0.5, 0.8, 0.4}, {2, 0.5, 0.5}, {0.5, math.Inf(1), 0.5},
		{0, 1, minAvailability}, {-1, -1, minAvailability}, {0.1, 0.1, minAvailability}, {math.NaN(), 1, minAvailability},
	} {
		n.SetAvailability(n.now, c.idle, c.up, &n.fx)
		if a := n.Availability(); math.Abs(a-c.want) > 1e-12 {
			t.Errorf("idle %g, up %g: availability %g, want %g", c.idle, c.up, a, c.want)
		}
		if s := n.IdleShare(); s != ClampShare(c.idle) {
			t.Errorf("idle %g: %g is used, want it within bounds, whatever the time that the node is up", c.idle, s)
		}
	}
}
