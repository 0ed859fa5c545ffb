package exec

import (
	"testing"
	"time"

	"skep/grid"
)

// The lowest bid that may be suspended is that of what runs: not of what is suspended already, or waits, nor where
// nothing ever is.
func TestOutbid(t *testing.T) {
	b := preempting(t)
	want := func(now grid.Time, want grid.Bid) {
		t.Helper()
		if got := b.Outbid(now); got != want*grid.UsualBid || b.Quote(now).Outbid != got {
			t.Errorf("at %v: %v may be outbid, want %d times the usual bid", time.Duration(now), got, want)
		}
	}
	want(0, 0)
	b.come(0, 3)
	b.come(0, 2)
	b.next(0)
	want(minute, 2)
	b.come(minute, 8) // for which that of 2 is suspended
	b.next(minute)
	want(2*minute, 3)
	if e := New(grid.Resources{CPU: grid.CPU, Memory: grid.GiB}); e.Outbid(0) != 0 {
		t.Error("a node that suspends nothing says what may be outbid")
	}
}
