package brokers

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// usual is the grid of [1, Table 3-1] with its resources as in SS|SL|LL.
func usual(clusters string) *System {
	s := &System{Name: clusters, Classes: []Class{{Name: "S", Part: 0.95, Demand: [2]float64{25, 75}},
		{Name: "L", Part: 0.05, Demand: [2]float64{1000, 1100}}},
		Delays: Delays{0.3, 2e-6, 0.025}}
	for _, c := range strings.Split(clusters, "|") {
		s.Clusters = append(s.Clusters, strings.Split(c, ""))
	}
	return s
}

func simulate1(t *testing.T, s *System, rate float64, jobs, replications int, policies ...string) []Result {
	t.Helper()
	r, err := Simulate(context.Background(), s, Options{Policies: policies, Rate: rate, Warmup: jobs / 5, Jobs: jobs,
		Replications: replications, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func average(r *Result, of func(*Run) float64) (x float64) {
	for k := range r.Runs {
		x += of(&r.Runs[k]) / float64(len(r.Runs))
	}
	return x
}

func w(r *Run) float64 { return r.W }

// The moments of the demand as printed [1, section 3.6.2 and Table 4-2], which cuts digits off.
func TestMoments(t *testing.T) {
	for _, c := range []struct {
		s, l [2]float64
		want float64
	}{
		{[2]float64{25, 75}, [2]float64{1000, 1100}, 2.184}, {[2]float64{50, 100}, [2]float64{550, 600}, 1.09},
		{[2]float64{20, 120}, [2]float64{120, 1220}, 1.5},
		{[2]float64{25, 40}, [2]float64{1365, 1400}, 2.94}, {[2]float64{30, 35}, [2]float64{35, 2730}, 3.41},
	} {
		s := usual("S|L")
		s.Classes[0].Demand, s.Classes[1].Demand = c.s, c.l
		if m, v := s.Mean(), s.Variation(); math.Abs(m-100) > 1e-9 || v < c.want || v > c.want+0.015 {
			t.Errorf("%v %v: mean %g, variation %g, want 100 and %g", c.s, c.l, m, v, c.want)
		}
	}
}

// Kept apart, and with all things local, each queue is an M/G/1: T = S + λE[X²]/(2(1−λS)) [2, chapter 5].
func TestAgainstTheory(t *testing.T) {
	apart := usual("S|L")
	apart.Delays = Delays{}
	r := simulate1(t, apart, 0.01, 60_000, 4, "cb", "local")
	square := (25*25 + 25*75 + 75*75) / 3.
	if got, want := average(&r[0], func(x *Run) float64 { return x.ByClass[0] }),
		50+0.0095*square/(2*(1-0.0095*50)); math.Abs(got/want-1) > 0.03 {
		t.Errorf("cb, S: %g s, want %g", got, want)
	}
	square = 0.95*square + 0.05*(1000*1000+1000*1100+1100*1100)/3
	if got, want := average(&r[1], w), 100+0.005*square/(2*(1-0.005*100)); math.Abs(got/want-1) > 0.06 {
		t.Errorf("local: %g s, want %g", got, want)
	}
}

// Without delays, twice the demand at half the rate is the same in twice the time.
func TestScales(t *testing.T) {
	one, two := usual("S|L|L"), usual("S|L|L")
	one.Delays, two.Delays = Delays{}, Delays{}
	for k := range two.Classes {
		two.Classes[k].Demand[0] *= 2
		two.Classes[k].Demand[1] *= 2
	}
	for _, p := range []string{"mct", "cb_rr", "cb_lis"} {
		a, b := simulate1(t, one, 0.02, 3000, 2, p), simulate1(t, two, 0.01, 3000, 2, p)
		if x, y := average(&a[0], w), average(&b[0], w); math.Abs(y/(2*x)-1) > 1e-9 {
			t.Errorf("%s: %g and %g, want twice", p, x, y)
		}
	}
}

// What is sent for a job, with the submission and the return [1, section 4.8]: 2 for local allocation; 2 and 2 for
// each resource in each cluster that is asked, and 2; that is all of them for MCT and CB-LI.
func TestMessages(t *testing.T) {
	for _, c := range []struct {
		grid, policy     string
		probed, messages float64
	}{
		{"S|L", "local", 0, 2}, {"S|S|L|L", "mct", 4, 18}, {"S|S|L|L", "cb_lis", 4, 18}, {"SSLL|SSLL|SSLL", "mct", 3, 32},
		{"SL|SL|SL", "cb_rr", 1, 8}, {"S|L|L", "cb", 1.9667, 9.8667}, {"S|L|L", "cb_rr", 1.975, 9.9},
		{"SS|SL|LL", "cb", 1.3333, 10},
	} {
		r := simulate1(t, usual(c.grid), 0.005, 5000, 2, c.policy)
		probed, messages := average(&r[0], func(x *Run) float64 { return x.Probed }),
			average(&r[0], func(x *Run) float64 { return x.Messages })
		if math.Abs(probed-c.probed) > 0.03 || math.Abs(messages-c.messages) > 0.1 {
			t.Errorf("%s, %s: %g clusters and %g messages, want %g and %g", c.grid, c.policy, probed, messages, c.probed,
				c.messages)
		}
	}
}

// A job that is nearly alone takes its demand and what its messages take: at home 0.3 s to find its resource; else
// 0.4 s for the home and the next cluster together, and 50 ms for both ways.
func TestDelays(t *testing.T) {
	s := usual("S|S|L")
	s.Classes = []Class{{Name: "S", Part: 0.5, Demand: [2]float64{10, 10}},
		{Name: "L", Part: 0.5, Demand: [2]float64{10, 10}}}
	r := simulate1(t, s, 1e-7, 4000, 1, "cb", "mct")
	// S is at home in two clusters of three, L in one; from cluster 0 an L asks all three, from 1 two.
	away := func(n float64) float64 { return 10 + 0.3 + n*0.4 + 0.05 }
	if got, want := r[0].Runs[0].ByClass[0], (2*10.3+away(1))/3; math.Abs(got-want) > 0.02 {
		t.Errorf("cb, S: %g s, want %g", got, want)
	}
	if got, want := r[0].Runs[0].ByClass[1], (10.3+away(1)+away(2))/3; math.Abs(got-want) > 0.02 {
		t.Errorf("cb, L: %g s, want %g", got, want)
	}
	if got := r[1].Runs[0].W; got < 10.4 || got > 10.46 {
		t.Errorf("mct: %g s, want 10.4 and at most 50 ms", got)
	}
}

// The same seed gives the same, however many work at it; every policy meets the same jobs.
func TestRepeatable(t *testing.T) {
	s := usual("SS|SL|LL")
	o := Options{Policies: []string{"cb_rr", "cb_lis", "mct"}, Rate: 0.03, Warmup: 100, Jobs: 2000, Replications: 3,
		Seed: 7, Workers: 1}
	a, err := Simulate(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Workers = 3
	b, _ := Simulate(context.Background(), s, o)
	for k := range a {
		for i := range a[k].Runs {
			x, y := a[k].Runs[i], b[k].Runs[i]
			if x.W != y.W || x.Q != y.Q || !slices.Equal(x.Load, y.Load) {
				t.Errorf("%s, replication %d: %v and %v", a[k].Policy, i, x, y)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Simulate(ctx, s, o); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// A job of the warm-up is not measured: what is measured of 200 jobs is what is of the first 100, and of the second.
func TestWarmupIsNotMeasured(t *testing.T) {
	of := func(warmup, jobs int) float64 {
		o := Options{Policies: []string{"mct"}, Rate: 0.02, Warmup: warmup, Jobs: jobs, Replications: 1, Seed: 1}
		r, err := Simulate(context.Background(), usual("S|L|L"), o)
		if err != nil {
			t.Fatal(err)
		}
		return float64(jobs) * r[0].Runs[0].W
	}
	first, second, all := of(0, 100), of(100, 100), of(0, 200)
	if math.Abs(first+second-all) > 1e-6*all || first == second {
		t.Errorf("%g s in all of the first hundred jobs, %g of the second: want %g together", first, second, all)
	}
}

// Variation is the coefficient of variation of the demand of a job [1, section 3.6.2], by
//
//	E[X²] = Σ p_k (L² + L·U + U²)/3
func (s *System) Variation() float64 {
	square := 0.0
	for _, c := range s.Classes {
		l, u := c.Demand[0], c.Demand[1]
		square += c.Part * (l*l + l*u + u*u) / 3
	}
	m := s.Mean()
	return math.Sqrt(square-m*m) / m
}
