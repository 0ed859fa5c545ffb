package order

import (
	"strings"
	"testing"
)

func TestSharing(t *testing.T) {
	for s, want := range map[string]float64{"exclusive": 0, "proportional": 0.2, "proportional:0.05": 0.05,
		"proportional:1": 1} {
		c := Defaults()
		if err := c.SetSharing(s); c.LeastSpeed != want || err != nil || c.Check() != nil {
			t.Errorf("%s: %v, %v, %v", s, c.LeastSpeed, err, c.Check())
		}
	}
	for _, s := range []string{"", "shared", "proportional:", "proportional:0", "proportional:0.04", "proportional:1.1",
		"proportional:NaN", "0.2"} {
		if f, err := parseSharing(s); err == nil {
			t.Errorf("%q: %v", s, f)
		}
	}
	for want, c := range map[string]Config{
		"least speed 2":   {MaxBid: 1, LeastSpeed: 2},
		"without max_bid": {LeastSpeed: 0.2},
		"preempt suspend": {Rule: "bid", MaxBid: 1, LeastSpeed: 0.2, Preempt: 5},
	} {
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want an error about %s", c, err, want)
		}
	}
}
