package transport

import (
	"testing"
	"time"

	"skep/grid"
)

func TestOffenders(t *testing.T) {
	var o offenders
	at := time.Unix(1e9, 0)
	n := grid.NodeID{1}
	for i := range maxOffences {
		if o.offend(n, 1, at) {
			t.Fatalf("cut off after %d offences: want %d", i+1, maxOffences+1)
		}
	}
	if !o.offend(n, 1, at) || !o.blocked(n, at.Add(minBlock-1)) || o.blocked(n, at.Add(minBlock)) {
		t.Error("not blocked for the first time")
	}
	at = at.Add(2 * time.Hour)
	for range maxOffences {
		o.offend(n, 1, at)
	}
	if !o.offend(n, 1, at) || !o.blocked(n, at.Add(2*minBlock-1)) {
		t.Error("not blocked for twice as long")
	}
	for i := range 2 * maxOffenders {
		o.offend(grid.NodeID{2, byte(i), byte(i >> 8)}, 1, at)
	}
	if len(o.peers) > maxOffenders {
		t.Errorf("%d peers remembered: want at most %d", len(o.peers), maxOffenders)
	}
}
