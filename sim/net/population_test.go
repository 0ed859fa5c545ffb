package net

import (
	"math/rand/v2"
	"testing"
	"time"

	"skep/sim"
)

// filledPopulation is a population of tasks that arrive each second and stay as long as is said.
func filledPopulation(warmup time.Duration, away []absence, stay func(at time.Duration) time.Duration) *population {
	const end = 400 * time.Second
	c := newPopulation(&sample{from: warmup, to: end}, &Scenario{})
	for at := time.Duration(0); at < end; at += time.Second {
		c.add(away, at, at+stay(at))
	}
	return c
}

func TestPopulationGrowth(t *testing.T) {
	s := &Scenario{Groups: []Group{{Count: 4, Cores: 1}}}
	for name, c := range map[string]struct {
		warmup time.Duration
		away   []absence
		stay   func(at time.Duration) time.Duration
		want   bool
	}{
		"even":                   {0, nil, func(time.Duration) time.Duration { return 30 * time.Second }, false},
		"growing":                {0, nil, func(at time.Duration) time.Duration { return at }, true},
		"growing, long warm-up":  {390 * time.Second, nil, func(at time.Duration) time.Duration { return at }, true},
		"growing, origin is off": {0, []absence{{0, forever}}, func(at time.Duration) time.Duration { return at }, false},
		// A peak at the end that is over before the end is random.
		"a heap at the end": {200 * time.Second, nil, func(at time.Duration) time.Duration {
			if at > 310*time.Second && at < 380*time.Second {
				return 385*time.Second - at
			}
			return 2 * time.Second
		}, false},
	} {
		if got := filledPopulation(c.warmup, c.away, c.stay).grows(s); got != c.want {
			t.Errorf("%s: grows %v, want %v", name, got, c.want)
		}
	}
}

// The least number at the instants of the last quarter equals that of counting at each of them.
func TestPopulationCountsInstants(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		from, to := make([]time.Duration, 100), make([]time.Duration, 100)
		away := []absence{{time.Duration(r.IntN(350)) * time.Second, 0}}
		away[0].to = away[0].from + time.Duration(r.IntN(60))*time.Second
		c := newPopulation(&sample{to: 400 * time.Second}, &Scenario{})
		for k := range from {
			from[k] = time.Duration(r.Int64N(int64(400 * time.Second)))
			to[k] = from[k] + time.Duration(r.Int64N(int64(200*time.Second)))
			c.add(away, from[k], to[k])
		}
		want := 1000
		for x := range instants {
			at, n := 300*time.Second+100*time.Second/instants*time.Duration(x), 0
			for k := range from {
				if from[k] <= at && at < to[k] && !(away[0].from <= at && at < away[0].to) {
					n++
				}
			}
			want = min(want, n)
		}
		if got := c.minimum(); got != want {
			t.Fatalf("the least is %d, want %d", got, want)
		}
	}
}

// Long queues that come and go are not taken for instability.
func TestVariableTasksAreStable(t *testing.T) {
	if testing.Short() {
		t.Skip("in the long form")
	}
	s := oneClass(1, time.Second, 0.7)
	s.Classes[0].Size = sim.Hyperexponential(4)
	s.Time, s.Warmup, s.Replications = 4000*time.Second, 200*time.Second, 18
	if r := run(t, s); !r.Stable || r.Completion.Mean < 5 || r.Completion.Mean > 9 {
		t.Errorf("stable %v, mean %.2f s, want 6.83 of M/H2/1", r.Stable, r.Completion.Mean)
	}
}
