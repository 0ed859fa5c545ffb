package reputation

import (
	"testing"
	"time"

	"skep/grid"
)

// A node with late attempts gets ranks of gangs while it has brought twice as many results lately: so does one whose
// queue is long, and one that keeps what it gets, or has not delivered yet, does not.
func TestRanksOfLateNodes(t *testing.T) {
	late := func(rec *Record, n int) *Record {
		rec.due = nil
		for range n {
			rec.addDue(1)
		}
		return rec
	}
	for _, c := range []struct {
		what          string
		results, late int
		since         time.Duration // the last result
		want          bool
	}{
		{"it is in time", 40, 0, 0, true},
		{"as many late as are excused", 40, maxTrust, 0, true},
		{"late, and it delivers", 40, maxTrust + 3, 0, true},
		{"late, and more than it delivers", 40, 21, 0, false},
		{"late, and it has not delivered for long", 40, maxTrust + 3, 10 * time.Minute, false},
		{"it has delivered little", maxTrust - 1, 100, 0, false},
	} {
		var r Records
		now := grid.Time(0)
		for range c.results {
			now = r.deliver(now, fastID, time.Second)
		}
		rec := late(r.Of(fastID), c.late)
		if got := !rec.GetsNoRanks(now.Add(c.since), 64*grid.CPU); got != c.want {
			t.Errorf("%s: asked %v, want %v", c.what, got, c.want)
		}
		if rec.reclaimed++; c.late > 0 && !rec.GetsNoRanks(now, grid.CPU) {
			t.Errorf("%s: want that a node from which tasks were taken is not asked", c.what)
		}
	}
	if (*Record)(nil).GetsNoRanks(0, grid.CPU) {
		t.Error("want that a node which was given nothing is asked")
	}
}
