package mesh

import (
	"math"
	"testing"
)

// pair is two hosts that send each other a message of so many bytes in each iteration, which lasts a time besides.
func pair(t *testing.T, bytes int, seconds float64, s *SlowStart) float64 {
	t.Helper()
	w := world([]float64{1, 1}, func(int, int) (float64, float64) { return 1000, 0.5 })
	w.Net.SlowStart = s
	p := Program{N: bytes, PointCost: seconds / float64(bytes), ValueBytes: 1}
	return w.Run(p, hosts(2), []int{1, 1}, 0).Iteration
}

// A message after a pause is sent in rounds of 100, 200, 400, … bytes, a round trip of 1 s apart; the last of its bytes
// arrives half of that after it was sent. What a window carries without a wait is 1000 bytes.
func TestSlowStart(t *testing.T) {
	s := &SlowStart{Window: 100, Pause: 2}
	for bytes, want := range map[int]float64{
		50:   0.05 + 0.5,
		100:  0.1 + 0.5,
		300:  1 + 0.2 + 0.5,
		700:  2 + 0.4 + 0.5,
		1000: 3 + 0.3 + 0.5,
		1500: 3 + 0.8 + 0.5,
		2500: 4 + 1 + 0.5, // the fourth round carries 800 bytes and waits a fifth of a second, the fifth does not
		9000: 4 + 7.5 + 0.5,
	} {
		got := pair(t, bytes, 10, s) - 10
		if math.Abs(got-want) > 1e-6 {
			t.Errorf("%d bytes take %.4f s; want %.4f", bytes, got, want)
		}
		if plain := pair(t, bytes, 10, nil) - 10; math.Abs(plain-float64(bytes)/1000-0.5) > 1e-6 {
			t.Errorf("%d bytes take %.4f s without slow start", bytes, plain)
		}
	}
}

// Without a pause the window stays as it has grown: messages soon take what the link makes them take.
func TestWindowsStay(t *testing.T) {
	s := &SlowStart{Window: 100, Pause: 2}
	if got := pair(t, 300, 0.7, s); math.Abs(got-0.7-0.3-0.5) > 1e-6 {
		t.Errorf("%.4f s an iteration; want 1.5", got)
	}
}

// A message that waits for its window leaves the cable to others.
func TestStalledLeavesTheCable(t *testing.T) {
	f := newFlows(&Network{Capacity: []*Trace{Constant(1000)}, SlowStart: &SlowStart{Window: 100, Pause: 2}}, 0)
	slow, fast := flow{path: []int{0}, left: 300}, flow{path: []int{0}, left: 1000}
	slow.connection = f.connection(0, 1, 0.5)
	f.start(slow)
	f.start(fast)
	f.share()
	for range 2 { // both at 500 bytes a second until 0.2 s, then one of them alone until 1 s
		f.advance(f.until)
		f.share()
	}
	a, b := f.active[0].left, f.active[1].left
	if f.at != 1 || math.Abs(a-200) > 1e-6 || math.Abs(b-100) > 1e-6 || f.count[0] != 2 {
		t.Errorf("at %g s %g and %g bytes are left; want 200 and 100 after 1 s", f.at, a, b)
	}
}

// However late it is, which makes the least step of time longer than what is left of a window: a run comes to its end.
func TestWindowsEnd(t *testing.T) {
	for k := range 200 {
		w := world([]float64{1e9, 1e9}, func(int, int) (float64, float64) { return 1e7 / 3, 0.0005 })
		w.Net.SlowStart = &SlowStart{Window: 2920, Pause: 0.2}
		start := 1e4 * (1 + float64(k)/7)
		if got := w.Run(Life(7200+k), hosts(2), []int{3600, 3600}, start); got.End < start || got.Iteration < 1.8 {
			t.Errorf("from %g s on: %+v", start, got)
		}
	}
}

// A window that is used up to what rounding leaves stays so until the round is over, while others' rates change.
func TestWindowStaysUsedUp(t *testing.T) {
	c := connection{trip: 1, window: 100, used: 100 - 1e-8, began: 5}
	for _, rate := range []float64{1000, 0} {
		if c.turn(5.1, rate); !c.waits || c.until(5.1, rate) != 6 {
			t.Errorf("at a rate of %g it waits: %v, until %g; want until 6", rate, c.waits, c.until(5.1, rate))
		}
	}
	if c.turn(6, 0); c.waits || c.window < 199 {
		t.Errorf("in the next round it waits: %v, with a window of %g", c.waits, c.window)
	}
}
