package spread

import (
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"skep/grid"
)

func mustRun(t testing.TB, c Config) *Result {
	t.Helper()
	r, err := Run(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A flood in which every node hands every ad on once sends as many entries as there are ends of links, but for the
// one it came over at each node but the origin; and nobody errs.
func TestFloodIsCounted(t *testing.T) {
	c := Reference("universal", 1)
	c.Phases[0].Time = 12 * 10 * time.Second
	c.Warmup = 60 * time.Second
	ends := 0
	r := mustRun(t, c)
	for _, links := range wire(&c, grid.NewRand(c.Seed, 0)).links {
		ends += len(links)
	}
	if want := float64(ends - c.Nodes + 1); math.Abs(r.PerAd-want) > 0.02*want {
		t.Errorf("%.1f entries for each ad: want %.1f", r.PerAd, want)
	}
	if r.View > 1e-3 || r.Coverage[3] != 1 {
		t.Errorf("error %g, coverage at 3 hops %g: want none and all", r.View, r.Coverage[3])
	}
}

func TestTheSameSeedGivesTheSame(t *testing.T) {
	c := Changing("probabilistic:0.6*change_sensitive:0.1", 3)
	for k := range c.Phases {
		c.Phases[k].Time = 30 * time.Second
	}
	if a, b := mustRun(t, c), mustRun(t, c); fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("two runs of a seed differ:\n%+v\n%+v", a, b)
	}
}

func TestMistakesAreTold(t *testing.T) {
	for _, change := range []func(*Config){
		func(c *Config) { c.Nodes = 2 }, func(c *Config) { c.Degree = 5 }, func(c *Config) { c.Phases = nil },
		func(c *Config) { c.Latency = 0 }, func(c *Config) { c.Gossip.Rule = "no" },
		func(c *Config) { c.Phases[0].Every = 0 },
	} {
		c := Changing("universal", 1)
		change(&c)
		if r, err := Run(c); err == nil || r != nil {
			t.Errorf("%+v is run", c)
		}
	}
}

func TestEqualInterpolates(t *testing.T) {
	fixed := []*Result{{View: 0.1, Bytes: 100}, {View: 0.2, Bytes: 10}, {View: 0.15, Bytes: 90}}
	for view, want := range map[float64]float64{0.05: math.Inf(1), 0.1: 100, 0.15: math.Sqrt(1000), 0.3: 10} {
		if got := Equal(fixed, view); !reflect.DeepEqual(got, want) && math.Abs(got-want) > 1e-9 {
			t.Errorf("at %g: %g, want %g", view, got, want)
		}
	}
}

// The rule that steers itself against some fixed ones; all are in BenchmarkSpreadBars.
func TestAdaptiveSendsLess(t *testing.T) {
	a := mustRun(t, Changing("adaptive:0.04", 1))
	var fixed []*Result
	for _, rule := range []string{"probabilistic:1*change_sensitive:0.05", "probabilistic:0.8*change_sensitive:0.1",
		"probabilistic:0.8*change_sensitive:0.2"} {
		fixed = append(fixed, mustRun(t, Changing(rule, 1)))
	}
	if best := Equal(fixed, a.View); math.IsInf(best, 1) || a.Bytes > 0.8*best {
		t.Errorf("adaptive errs by %.4f with %.0f bytes a node and second, the best of three fixed would with %.0f: want "+
			"at most 0.8 of it", a.View, a.Bytes, best)
	}
}

// The mean error is the target where it can be. Where half of the nodes flap every 5 s not even a flood comes below
// 0.09, with a second between two ads of a node and between two digests to a neighbour; and where next to nothing
// changes the refreshes alone keep it lower.
func TestAdaptiveKeepsItsTarget(t *testing.T) {
	for _, target := range []float64{0.04, 0.06} {
		r := mustRun(t, Changing(fmt.Sprint("adaptive:", target), 2))
		for _, k := range []int{0, 3} {
			if got := r.Phases[k].View; got > 1.35*target {
				t.Errorf("target %g: phase %d errs by %.4f", target, k, got)
			}
		}
		if got := r.Phases[1].View; got > 0.15 {
			t.Errorf("target %g: while half of the nodes flap it errs by %.4f", target, got)
		}
	}
}
