package net

import (
	"context"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"skep/grid"
	"skep/internal/digests"
	"skep/node"
	"skep/sim"
)

// alone returns the configuration of nodes that keep their jobs alone: what is measured here does not depend on it, and
// takes a tenth of the time.
func alone() node.Config {
	c := node.Defaults()
	c.Members = 1
	return c
}

// small is two groups, two classes, a few hundred tasks.
func small() *Scenario {
	s := &Scenario{Name: "small", Seed: 7, Replications: 2, Start: 5 * time.Second, Warmup: 10 * time.Second,
		Time: time.Minute, Node: alone(),
		Groups: []Group{{Name: "fast", Count: 4, Cores: 2, Memory: grid.GiB, Speed: 2},
			{Name: "slow", Count: 6, Cores: 1, Memory: grid.GiB, Speed: 1, Rates: map[string]float64{"b": 0.2}}},
		Classes: []Class{{Name: "a", Mean: time.Second, Size: sim.Exponential(),
			Needs: grid.Needs{Resources: grid.Resources{CPU: grid.CPU}}, Retries: 1000},
			{Name: "b", Mean: 2 * time.Second, Size: sim.Deterministic(),
				Needs: grid.Needs{Resources: grid.Resources{CPU: grid.CPU}}, Retries: 1000}},
		Streams: []Stream{{Class: "a", Rate: 4}, {Class: "b", Rate: 2, From: []string{"slow"}}}}
	s.Network.Latency = Span{Kind: Uniform, A: time.Millisecond, B: 5 * time.Millisecond}
	return s
}

// goldenDigests are the digests of all runs of run.
var goldenDigests = digests.Open("testdata/digests.txt")

func TestMain(m *testing.M) { os.Exit(goldenDigests.Main(m)) }

func run(t *testing.T, s *Scenario) *Report {
	t.Helper()
	r, err := Run(context.Background(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := strconv.ParseUint(r.Digest, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	if !testing.Short() {
		goldenDigests.Add(t, sum)
	}
	return r
}

func TestRunMeasures(t *testing.T) {
	r := run(t, small())
	if !r.Complete || !r.Stable || r.Lost != 0 || r.Failed != 0 || r.Ended != r.Tasks || r.Replications != 2 ||
		r.Nodes != 10 {
		t.Fatalf("%+v", r)
	}
	// λ*: the fast group alone does 8/1 a or 8/2·... : it must be between the two classes' own bounds.
	if r.Lambda < 1.5 || r.Lambda > 4 {
		t.Errorf("λ* %v", r.Lambda)
	}
	if u := r.Utilisation.Mean; u < 0.2 || u > 0.9 {
		t.Errorf("utilisation %v", u)
	}
	if f := r.Fairness.Mean; f <= 0 || f > 1 {
		t.Errorf("fairness %v", f)
	}
	if m := r.Moved.Mean; m < 0.2 || m > 1 {
		t.Errorf("moved %v", m)
	}
	for _, c := range r.Classes {
		if c.Tasks < 50 || c.P50.Mean > c.P95.Mean || c.P95.Mean > c.P99.Mean || c.Slowdown.Mean < 1 ||
			c.Completion.Half <= 0 {
			t.Errorf("class %+v", c)
		}
	}
	if len(r.Messages) < 5 || len(r.View) == 0 || r.View[0].Age.Mean <= 0 {
		t.Errorf("messages %v, view %v", r.Messages, r.View)
	}
}

func TestSameSeedSameDigestOnAnyNumberOfProcessors(t *testing.T) {
	before := runtime.GOMAXPROCS(1)
	one := run(t, small())
	runtime.GOMAXPROCS(2)
	two := run(t, small())
	runtime.GOMAXPROCS(before)
	if one.Digest != two.Digest || one.Classes[0].Completion != two.Classes[0].Completion {
		t.Errorf("digests %s and %s, want the same", one.Digest, two.Digest)
	}
	s := small()
	s.Seed++
	s.Replications = 1
	if other := run(t, s); other.Digest == one.Digest {
		t.Error("another seed has the same digest")
	}
}

func TestCancelledRunReportsPartialResults(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	s := small()
	s.Replications = 1
	r, err := Run(ctx, s, func(p Progress) {
		if p.Virtual > 30*time.Second {
			stop()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Complete || r.Replications != 1 || r.Ended == 0 || r.Ended >= 300 || r.Lost != 0 {
		t.Errorf("%+v", r)
	}
}

func TestSessionsComeAndGo(t *testing.T) {
	s := small()
	s.Groups[1].Up = Span{Kind: Exponential, A: 20 * time.Second}
	s.Groups[1].Down = Span{Kind: Weibull, A: 5 * time.Second, Exp: 0.7}
	s.Faults = []Fault{{At: 30 * time.Second, Kind: sim.Drift, Nodes: []Pick{{Share: 0.5, From: -1}}, Factor: 500}}
	r := run(t, s)
	if r.Lost != 0 || r.Ended != r.Tasks || r.Again == 0 {
		t.Errorf("%d of %d ended, %d lost, %d again", r.Ended, r.Tasks, r.Lost, r.Again)
	}
}

func TestOverloadIsRejectedAndGrowthDetected(t *testing.T) {
	s := small()
	s.Streams[0].Rate = 100
	problems, lambda := s.Check()
	if len(problems) != 1 || lambda >= 1 || !strings.Contains(problems[0].What, "cannot be stable") {
		t.Errorf("%v, λ* %v", problems, lambda)
	}
	s = small()
	if !grows([3]float64{20, 60, 100}, s) || grows([3]float64{20, 22, 21}, s) || grows([3]float64{1, 2, 4}, s) {
		t.Error("growth is judged wrongly")
	}
}

func TestCheckReportsAllProblems(t *testing.T) {
	s := small()
	s.Groups[0].Name = "slow"
	s.Groups[1].Rates["z"] = 1
	s.Classes[1].Needs.CPU = 64 * grid.CPU
	s.Streams[0].Class = "q"
	s.Streams[1].From = []string{"none"}
	s.Network.Matrix = [][]time.Duration{{1}, {1, 2}, {3}}
	s.Faults = []Fault{{At: time.Hour, Kind: sim.Crash, Nodes: []Pick{{Group: "y"}, {Group: "slow", From: 1, To: 9}}}}
	s.Node.Gossip.View = 1
	problems, _ := s.Check()
	all := ""
	for _, p := range problems {
		all += p.Where + ": " + p.What + "\n"
	}
	for _, want := range []string{"nodes.1: name", "nodes.1: rates of \"z\"", "classes.b: no machine",
		"workload.0: class \"q\"", "workload.1: from \"none\"",
		"network.latency: matrix of 3 rows", "faults.0: nodes \"y\"", "faults.0: nodes up to 9", "faults.0: at 1h",
		"gossip: view 1"} {
		if !strings.Contains(all, want) {
			t.Errorf("does not say %q:\n%s", want, all)
		}
	}
}

func TestEstimateUsesStudentsT(t *testing.T) {
	// t(0.975; 3) = 3.18245; the deviation of 1…4 is 1.29099.
	e := estimate([]float64{1, 2, 3, 4})
	if e.Mean != 2.5 || math.Abs(e.Half-3.18245*1.29099/2) > 1e-4 {
		t.Errorf("%+v", e)
	}
	if e := estimate([]float64{5, math.NaN()}); e.Mean != 5 || e.Half != 0 {
		t.Errorf("%+v", e)
	}
}
