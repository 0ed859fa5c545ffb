package instance

import (
	"log/slog"
	"testing"

	"skep/grid"
)

// A member that asks for checks all the time keeps no other one from asking.
func TestChecksAreBoundedByWitness(t *testing.T) {
	w := New(t.Context(), Config{Log: slog.New(slog.DiscardHandler)})
	var allowed int
	for range 1000 {
		if w.mayCheck(grid.NodeID{1}) {
			allowed++
		}
	}
	if allowed < checkBurst || allowed > 2*checkBurst+5 {
		t.Errorf("%d checks of 1,000 that a member asks for at once: want some %d", allowed, checkBurst)
	}
	if !w.mayCheck(grid.NodeID{2}) {
		t.Error("another witness may ask for none")
	}
}
