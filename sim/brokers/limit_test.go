package brokers

import "testing"

// What the resources carry, by hand: S are 0.95 of all jobs and take 50 s, L 0.05 and 1050 s, 100 s in the mean.
func TestLimitByHand(t *testing.T) {
	for _, c := range []struct {
		clusters, policy string
		want             float64
	}{
		{"S|L", "mct", 0.02},
		{"S|L", "cb", 1 / 52.5},
		{"S|L|L", "cb_lis", 1 / 47.5},
		{"S|L|L", "cb_spill", 0.03},
		{"S|L|L", "mct", 0.03},
		{"SS|SL", "cb_rr:past", 1 / 52.5},
		{"S|S", "cb_rr", 2 / 47.5}, // L is turned away
	} {
		if got := usual(c.clusters).Limit(c.policy); got < 0.999999*c.want || got > 1.000001*c.want {
			t.Errorf("%s, %s: full at %g, want %g", c.clusters, c.policy, got, c.want)
		}
	}
	s := usual("S|L|L")
	s.Mistaken = 0.1
	if got := s.Limit("cb"); got < 0.029999 || got > 0.030001 {
		t.Errorf("with mistakes: full at %g, want 0.03: which class has the work is not known", got)
	}
}
