package queueing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
)

// everything is a system in which all can happen that can.
func everything() *System {
	s := system4A(true)
	s.Name, s.Service = "everything", Distribution{Hyperexponential, 2, 0}
	s.Failures = []Failures{{Rate: 0.01, MeanFault: 1, Up: Distribution{Weibull, 0.7, 0},
		Down: Distribution{Kind: Deterministic}}}
	for j := range 7 {
		s.Availability = append(s.Availability, Availability{Fixed: 1})
		if j%3 == 0 {
			s.Availability[j] = Availability{Chain: &Chain{Values: []float64{1, 0.8},
				Matrix: [][]float64{{0.9, 0.1}, {0.5, 0.5}}, Step: 0.1}}
		}
	}
	s.Inaccuracy = Inaccuracy{Rates: 0.1, Availability: 0.2}
	return s
}

func text(t *testing.T, r *Report) string {
	t.Helper()
	for k := range r.Results {
		r.Results[k].TasksPerSecond = 0
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The same seed gives the same numbers, with one worker or several; another seed does not. Every policy works
// on a system in which all can happen, with information at once and late; batch policies are tested by themselves.
func TestRepeatable(t *testing.T) {
	for _, delay := range []float64{0, 0.05} {
		s := everything()
		s.Delay = delay
		o := Options{Time: 60, Replications: 3, Seed: 5, Workers: 1}
		for _, p := range Policies() {
			if !isBatch(p) {
				o.Policies = append(o.Policies, p)
			}
		}
		run := func(o Options) string {
			r, err := Run(context.Background(), s, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range r.Results {
				if x.Tasks == 0 {
					t.Errorf("%s: no task was completed", x.Policy)
				}
			}
			return text(t, r)
		}
		first := run(o)
		o.Workers = 4
		if again := run(o); again != first {
			t.Errorf("delay %g: other numbers with four workers:\n%s\n%s", delay, first, again)
		}
		o.Seed++
		if other := run(o); other == first {
			t.Error("the same numbers with another seed")
		}
	}
}

// All policies of a seed meet the same tasks, faults and changes.
func TestCommonRandomNumbers(t *testing.T) {
	s := everything()
	o := Options{Time: 200, Seed: 3}
	want := ""
	for _, policy := range []string{"mct", "lpas_dec", "random", "gcmu", "lpas_dg"} {
		var stop atomic.Bool
		e, err := newEngine(s, policy, &o, 1, &stop)
		if err != nil {
			t.Fatal(err)
		}
		e.run()
		got := fmt.Sprint(e.books.arrived, e.books.expected, e.arrival, e.nextChange)
		for j := range e.machines {
			got += fmt.Sprint(" ", e.machines[j].down, e.machines[j].flip, e.machines[j].step)
		}
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%s met\n%s\nmct\n%s", policy, got, want)
		}
	}
}

// Tasks are neither lost nor doubled.
func TestConservation(t *testing.T) {
	for _, delay := range []float64{0, 0.1} {
		for _, policy := range []string{"lpas_dec", "kpb:1", "lp_static", "lpas_dg"} {
			s := everything()
			s.Delay = delay
			var stop atomic.Bool
			e, err := newEngine(s, policy, &Options{Time: 300, Seed: 1}, 0, &stop)
			if err != nil {
				t.Fatal(err)
			}
			e.run()
			inside := int64(0)
			for j := range e.machines {
				inside += int64(e.machines[j].queue.n)
			}
			if e.pull != nil {
				inside += int64(e.pull.queued)
			} else {
				inside += int64(e.push.held.n + len(e.push.flights.what) - e.push.flights.head)
			}
			done, _ := e.books.completed()
			if done+inside != e.books.arrived || inside != int64(e.books.inside) {
				t.Errorf("%s, delay %g: %d came, %d ended, %d are there and %d counted", policy, delay, e.books.arrived, done,
					inside, e.books.inside)
			}
		}
	}
}

// A system that fills up is called unstable, and JSON has no numbers of it.
func TestUnstable(t *testing.T) {
	s := simple(1.1, 1, 1) // beyond what CheckLoad lets pass, and Run does not refuse
	r, err := Run(context.Background(), s, Options{Policies: []string{"mct"}, Time: 5000, Replications: 4, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	got := text(t, r)
	if r.Results[0].Stable || strings.Contains(got, `"W"`) || strings.Contains(got, `"Q"`) ||
		!strings.Contains(got, `"stable":false`) {
		t.Errorf("a load of 1.1 gives %s", got)
	}
	for seed := range uint64(5) {
		if r := mustRun(t, simple(0.9, 1, 1), Options{Policies: []string{"mct"}, Time: 20_000, Replications: 4,
			Seed: seed + 1}); !r.Results[0].Stable {
			t.Errorf("seed %d: a load of 0.9 is called unstable", seed+1)
		}
	}
}

// A run that is interrupted gives what is done.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	o := Options{Policies: []string{"mct", "met"}, Time: 10, Replications: 2, Seed: 1, Workers: 1}
	o.Progress = func(done, of int) {
		if of != 4 {
			t.Errorf("%d runs, want 4", of)
		}
		if done == 2 {
			cancel()
		}
	}
	r, err := Run(ctx, simple(0.5, 1, 2), o)
	if !errors.Is(err, context.Canceled) || len(r.Results) == 0 || r.Results[0].Policy != "mct" {
		t.Errorf("report %+v, error %v; want mct, and that it was cancelled", r, err)
	}
}

func TestOptionErrors(t *testing.T) {
	s := simple(0.5, 1, 2)
	o := Options{Policies: []string{"best", "kpb:0", "local", "mct"}, Time: 10, Warmup: 10}
	err := o.Check(s)
	for _, want := range []string{"warmup 10", "replications 0", `policy "best": is not known`, `policy "kpb:0"`,
		"policy local"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	s.Delay = 1
	o = Options{Policies: []string{"fcfs"}, Time: 1e10, Replications: 1}
	err = o.Check(s)
	if want := "time 1e+10: want from 1e-9 to 9e+09 units"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
	if _, err := Run(context.Background(), s, o); err == nil {
		t.Error("Run takes options that Check refuses")
	}
}

// The half-width is Student's: with two replications 12.706 standard errors, with thirty 2.045.
func TestStudent(t *testing.T) {
	for freedom, want := range map[float64]float64{1: 12.706, 4: 2.776, 29: 2.045} {
		if got := Student(freedom); !near(Number(got), want, 1e-3) {
			t.Errorf("%g degrees of freedom: %.4f, want %.3f", freedom, got, want)
		}
	}
	r := mustRun(t, simple(0.5, 1, 1), Options{Policies: []string{"mct"}, Time: 40_000, Replications: 1})
	if got := text(t, r); !strings.Contains(got, `"half":null`) {
		t.Errorf("one replication has the half-width in %s", got)
	}
}
