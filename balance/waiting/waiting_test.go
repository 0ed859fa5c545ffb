package waiting

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestEstimate(t *testing.T) {
	of := func(durations ...float64) (out []Task) {
		for _, d := range durations {
			out = append(out, Task{Duration: d})
		}
		return out
	}
	for _, x := range []struct {
		running []float64
		queued  []Task
		next    int
		want    float64
	}{
		{[]float64{100, 40}, of(30, 50), 1, 100},
		{[]float64{100, 0}, nil, 1, 0},
		{[]float64{100, 0}, of(30), 1, 30},
		{[]float64{100, 40}, nil, 1, 40},
		{[]float64{100, 40}, nil, 2, 100},
		{[]float64{5}, of(-3), 1, 5},
		{[]float64{5}, of(0), 1, 5 + 7}, // as usual
		{[]float64{0, 0, 60}, []Task{{30, 3}, {10, 1}}, 2, 90},
		{[]float64{0, 50, 100, 100}, []Task{{20, 2}}, 1, 70},
		{[]float64{8, 9}, []Task{{20, 3}}, 1, 8}, // what never fits holds up nobody
		{nil, of(3), 1, math.Inf(1)},
	} {
		if got := Estimate(x.running, x.queued, x.next, 7); got != x.want {
			t.Errorf("%v, queued %v: %v s, want %v", x.running, x.queued, got, x.want)
		}
	}
}

// The estimate is when a new task does start: the site is simulated second by second.
func TestEstimateIsTheTruth(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		running, queued := make([]float64, 4+r.IntN(5)), make([]Task, r.IntN(8))
		for k := range running {
			running[k] = float64(r.IntN(30))
		}
		for k := range queued {
			queued[k] = Task{float64(1 + r.IntN(30)), 1 + r.IntN(4)}
		}
		next := 1 + r.IntN(4)
		left, line, now := slices.Clone(running), append(slices.Clone(queued), Task{1, next}), 0.0
		for started := false; !started; now++ {
			for len(line) > 0 {
				var free []int
				for k := range left {
					if left[k] == 0 {
						free = append(free, k)
					}
				}
				if len(free) < line[0].Processors {
					break
				}
				for _, k := range free[:line[0].Processors] {
					left[k] = line[0].Duration
				}
				line = line[1:]
				started = len(line) == 0
			}
			for k := range left {
				left[k] = max(0, left[k]-1)
			}
		}
		if got := Estimate(running, queued, next, 0); got != now-1 {
			t.Fatalf("%v, queued %v, then %d: %v s, it took %v", running, queued, next, got, now-1)
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

// While processors are free those of the site with the larger free part are taken, and the part of one that has more
// waiting than free is below 0.
func TestFreePart(t *testing.T) {
	for _, x := range []struct {
		site Site
		want float64
	}{{Site{Free: 100, Total: 100}, 1}, {Site{Free: 10, Total: 100, Queued: 3}, 0.07},
		{Site{Free: 10, Total: 100, Queued: 3, Wanted: 30}, -0.2}, {Site{Total: 10, Queued: 40}, -4}} {
		if got := x.site.FreePart(); math.Abs(got-x.want) > 1e-12 {
			t.Errorf("%+v: %v, want %v", x.site, got, x.want)
		}
	}
}

// Each task that a full site has not told of yet makes it worse by the penalty.
func TestWaitRank(t *testing.T) {
	s := Site{Total: 50, Waiting: 600, MeanRun: 3000, Matched: 2}
	if got := s.WaitRank(s.Penalty(0)); got != -600-2*60 {
		t.Errorf("%v, want −720", got)
	}
	if s.MeanRun = 0; s.Penalty(500) != 10 || s.Penalty(0) != 1.0/50 {
		t.Errorf("without a history: %v, %v, want 10 and a second over 50", s.Penalty(500), s.Penalty(0))
	}
}

// The nearest copy of a file counts, whoever else has one, and a file that nobody can give repels the task.
func TestData(t *testing.T) {
	for _, x := range []struct {
		rates      [][]float64
		rank, time float64
	}{
		{[][]float64{{5e6, 20e6, 0}}, 20e6, 5},
		{[][]float64{{5e6, 20e6}, {50e6}}, 50e6, 5 + 4},
		{[][]float64{{5e6}, {0, 0}}, 0, math.Inf(1)},
		{[][]float64{{}, {5e6}}, 0, math.Inf(1)},
	} {
		sizes := []float64{100e6, 200e6}
		if got := DataRank(x.rates); got != x.rank {
			t.Errorf("%v: rank %v, want %v", x.rates, got, x.rank)
		}
		if got := TransferTime(sizes[:len(x.rates)], x.rates); got != x.time {
			t.Errorf("%v: %v s, want %v", x.rates, got, x.time)
		}
	}
}

// A bound on what waits does not keep tasks from processors that are free: of 100 with 60 free, 60 and ten more may
// come before the site says anything.
func TestAdmitsBeyondFree(t *testing.T) {
	s := Site{Free: 60, Total: 100}
	for s.AdmitsBeyondFree(0.1) {
		s.Matched++
	}
	if s.Matched != 70 {
		t.Errorf("it gets %d, want 70", s.Matched)
	}
	for s.Matched = 0; s.Admits(0.1); {
		s.Matched++
	}
	if s.Matched != 10 {
		t.Errorf("as printed it gets %d, want 10", s.Matched)
	}
}
