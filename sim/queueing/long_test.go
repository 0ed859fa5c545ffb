package queueing

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// A system that has filled up for long grows little in what is measured after a long warm-up: it is unstable all the
// same.
func TestUnstableBehindAWarmup(t *testing.T) {
	s := &System{Classes: []string{"a"}, Machines: []Line{{}, {}}, Mu: [][]float64{{2, 1.9}}, Alpha: []float64{2.5}}
	for _, warmup := range []float64{0, 1, 600, 1900, 1999} {
		r, err := Run(t.Context(), s, Options{Policies: []string{"met", "mct"}, Time: 2000, Warmup: warmup, Replications: 3})
		if err != nil {
			t.Fatal(err)
		}
		if r.Results[0].Stable || !r.Results[1].Stable {
			t.Errorf("warm-up %g: stable %v, %v; want no under met, which uses one machine, and yes under mct", warmup,
				r.Results[0].Stable, r.Results[1].Stable)
		}
	}
}

// Of a handful of tasks nobody can say whether a system fills up.
func TestAFewTasksAreNotUnstable(t *testing.T) {
	s := &System{Classes: []string{"a"}, Machines: []Line{{}}, Mu: [][]float64{{1}}, Alpha: []float64{0.8}}
	for seed := range uint64(20) {
		r, err := Run(t.Context(), s, Options{Policies: []string{"mct"}, Time: 4, Replications: 1, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if !r.Results[0].Stable {
			t.Fatalf("seed %d: unstable after 4 units and %d tasks", seed, r.Results[0].Tasks)
		}
	}
}

// An interrupt ends a run in which nothing arrives and everything else happens all the time.
func TestInterruptWithoutArrivals(t *testing.T) {
	one := func() *System {
		return &System{Classes: []string{"a"}, Machines: []Line{{}}, Mu: [][]float64{{1}}, Alpha: []float64{1e-9}}
	}
	fails, changes, steps := one(), one(), one()
	fails.Failures = []Failures{{Rate: 1e9, MeanFault: 1e-9}}
	changes.RateChanges = &RateChanges{MeanInterval: 1e-9}
	steps.Availability = []Availability{{Chain: &Chain{Values: []float64{1, 0.5}, Matrix: [][]float64{{0, 1}, {1, 0}},
		Step: 1e-9}}}
	for name, s := range map[string]*System{"faults": fails, "changes": changes, "steps": steps} {
		for _, policy := range []string{"mct", "fcfs"} {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			began := time.Now()
			_, err := Run(ctx, s, Options{Policies: []string{policy}, Time: 1e9, Replications: 1})
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 20*time.Second {
				t.Errorf("%s, %s: %v after %v", name, policy, err, time.Since(began))
			}
		}
	}
}

// What machines know of each other grows with the square of their number: too many are refused and not begun.
func TestTooManyMachinesDecide(t *testing.T) {
	s := &System{Classes: []string{"a"}, Machines: []Line{{Count: MaxMachines}}, Mu: [][]float64{{1}}, Alpha: []float64{1}}
	for policy, want := range map[string]string{"lpas_dec": "machines decide", "mct": "", "fcfs": ""} {
		o := Options{Policies: []string{policy}, Time: 1, Replications: 1}
		if err := o.Check(s); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", policy, err, want)
		}
	}
}
