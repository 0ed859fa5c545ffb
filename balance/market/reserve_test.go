package market

import (
	"math"
	"testing"
)

// The price is what was earned of late for a unit of what was offered, less the discount [1, section 6.5.2].
func TestReserveFollowsRevenue(t *testing.T) {
	r := NewReserve(0.5)
	if r.Price(10) != 0 {
		t.Error("a node without a past has a price")
	}
	r.Runs(0, 3*4, 4, false) // four cores at a bid of 3
	r.Runs(100, 3*2, 4, false)
	half := math.Exp(-0.25) // of Memory
	want := 3 - 0.5*3*(1-half)/(1-math.Exp(-100/Memory)*half) - 0.5
	if got := r.Price(250); math.Abs(got-want) > 1e-9 {
		t.Errorf("100 s in full use and 150 s at half of it: price %g, want %g", got, want)
	}
	if got := r.Price(1e6); math.Abs(got-1) > 1e-9 {
		t.Errorf("at half use for ever: price %g, want half the bid less the discount, 1", got)
	}
	cheap := NewReserve(9)
	cheap.Runs(0, 12, 4, false)
	if got := cheap.Price(50); got != 0 {
		t.Errorf("a discount above what is earned: price %g, want 0", got)
	}
}

// What a free core costs falls in a line to nothing within a quarter of the mean time of a task, and a match has it
// rise again to what was earned.
func TestReserveFallsWhileIdle(t *testing.T) {
	r := NewReserve(0)
	for range 200 {
		r.Ended(80)
	}
	r.Runs(0, 8, 4, false)
	r.Runs(1000, 6, 4, true)
	full := r.Price(1000)
	if math.Abs(full-2) > 1e-9 || !r.Falling(1000) {
		t.Fatalf("price %g as the core becomes free, want 2, and falling", full)
	}
	for idle, share := range map[float64]float64{5: 0.75, 10: 0.5, 20: 0, 100: 0} {
		x := r
		x.idle = false
		if got, want := r.Price(1000+idle), share*x.Price(1000+idle); math.Abs(got-want) > 1e-9 {
			t.Errorf("after %g s: price %g, want %g", idle, got, want)
		}
	}
	if r.Falling(1021) {
		t.Error("a price of nothing falls")
	}
	r.Began(1021)
	if got := r.Price(1021); got < 1.9 || got > full {
		t.Errorf("after a match: price %g, want what was earned again, nearly 2", got)
	}
}

// No bid waits for longer than MaxPatience beside a free core, however long tasks are and whatever was earned.
func TestReserveIsBounded(t *testing.T) {
	for _, task := range []float64{0.001, 1, 1e9} {
		r := NewReserve(0)
		r.Ended(task)
		r.Runs(0, 1e6, 1, false)
		r.Runs(1e6, 0, 1, true)
		if got := r.Price(1e6 + MaxPatience); got != 0 {
			t.Errorf("tasks of %g s: price %g after the longest patience, want 0", task, got)
		}
		if got := r.Price(1e6 + MinPatience/2); got <= 0 {
			t.Errorf("tasks of %g s: no price after half of the shortest patience", task)
		}
	}
}
