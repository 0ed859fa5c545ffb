package throughput

import (
	"math"
	"testing"
	"time"

	"skep/grid"
)

func TestRates(t *testing.T) {
	var r Rates
	slow, now := grid.NodeID{1}, time.Unix(1000, 0)
	if got := r.Of(slow, now); got != Assumed {
		t.Errorf("of one from which nothing came: %v", got)
	}
	r.Note(slow, grid.Transfer{Bytes: 2e6, Took: time.Second}, now)
	r.Note(slow, grid.Transfer{Bytes: 4e6, Took: time.Second}, now)
	if got := r.Of(slow, now); got != 3e6 {
		t.Errorf("%v bytes a second, want 3e6", got)
	}
	if got := r.Of(slow, now.Add(memory)); math.Abs(got-(Assumed+(3e6-Assumed)/math.E)) > 1 {
		t.Errorf("ten minutes later %v", got)
	}
	r.Note(slow, grid.Transfer{Bytes: 9e6, Took: time.Second}, now.Add(100*memory)) // what was so long ago counts no more
	if got := r.Of(slow, now.Add(100*memory)); math.Abs(got-9e6) > 1 {
		t.Errorf("%v bytes a second, want 9e6", got)
	}
	for k := range mostRates {
		r.Note(grid.NodeID{2, byte(k), byte(k >> 8)}, grid.Transfer{Bytes: 1e6, Took: time.Second}, now)
	}
	if len(r.known) != mostRates || r.Of(slow, now.Add(100*memory)) == Assumed {
		t.Errorf("%d are known, want %d, the newest among them", len(r.known), mostRates)
	}
}
