package waiting

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestEstimate(t *testing.T) {
	for _, x := range []struct {
		running, queued []float64
		want            float64
	}{
		{[]float64{100, 40}, []float64{30, 50}, 100},
		{[]float64{100, 0}, nil, 0},
		{[]float64{100, 0}, []float64{30}, 30},
		{[]float64{100, 40}, nil, 40},
		{[]float64{5}, []float64{-3}, 5},
		{nil, []float64{3}, 0},
	} {
		if got := Estimate(x.running, x.queued); got != x.want {
			t.Errorf("%v, queued %v: %v s, want %v", x.running, x.queued, got, x.want)
		}
	}
}

// The estimate is when a new task does start: the site is simulated second by second.
func TestEstimateIsTheTruth(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		running, queued := make([]float64, 1+r.IntN(5)), make([]float64, r.IntN(8))
		for k := range running {
			running[k] = float64(r.IntN(30))
		}
		for k := range queued {
			queued[k] = float64(1 + r.IntN(30))
		}
		left, line, now := slices.Clone(running), append(slices.Clone(queued), 1), 0.0
		for started := false; !started; now++ {
			for k := range left {
				if left[k] == 0 && len(line) > 0 {
					if left[k], line = line[0], line[1:]; len(line) == 0 {
						started = true
						break
					}
				}
			}
			for k := range left {
				left[k] = max(0, left[k]-1)
			}
		}
		if got := Estimate(running, queued); got != now-1 {
			t.Fatalf("%v, queued %v: %v s, it took %v", running, queued, got, now-1)
		}
	}
}

func TestRank(t *testing.T) {
	free, full := Site{Free: 10, Total: 100}, Site{Queued: 20, Total: 100, Waiting: 600, Matched: 2, MeanRun: 3600}
	if got := free.Rank(30, 0); got != 0.1 {
		t.Errorf("a free site: %v, want 0.1", got)
	}
	if got := full.Rank(30, 0); math.Abs(got+660.0/3600) > 1e-12 {
		t.Errorf("a full site: %v, want %v", got, -660.0/3600)
	}
	full.MeanRun = 0
	if got := full.Rank(30, 660); got != -1 {
		t.Errorf("without a history: %v, want −1", got)
	}
	if got := full.Rank(30, 0); got != -660 {
		t.Errorf("without any history: %v, want −660", got)
	}
}

// A part of 0.1 of 100 processors lets ten wait; of 4 processors one.
func TestAdmits(t *testing.T) {
	for _, x := range []struct {
		total, queued, matched int
		want                   bool
	}{{100, 5, 4, true}, {100, 5, 5, false}, {4, 0, 0, true}, {4, 1, 0, false}, {4, 0, 1, false}} {
		s := Site{Total: x.total, Queued: x.queued, Matched: x.matched}
		if got := s.Admits(0.1); got != x.want {
			t.Errorf("%+v: %v, want %v", s, got, x.want)
		}
	}
}
