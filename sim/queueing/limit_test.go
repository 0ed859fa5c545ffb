package queueing

import (
	"context"
	"testing"
)

// What each policy can carry of a load, worked out by hand.
func TestLimitByHand(t *testing.T) {
	two := func(alpha float64) *System { // a fast machine and a slow one
		return &System{Name: "two", Classes: []string{"a"}, Machines: []Line{{Name: "fast"}, {Name: "slow"}},
			Mu: [][]float64{{2, 1}}, Alpha: []float64{alpha}}
	}
	mixed := &System{Name: "mixed", Classes: []string{"a", "b"},
		Machines: []Line{{Name: "x", Count: 3}, {Name: "y", Count: 2}},
		Mu:       [][]float64{{4, 1}, {1, 4}}, Alpha: []float64{1, 1}}
	kept := *mixed
	apart := &kept
	apart.Machines = []Line{{Name: "x", Count: 3, Class: "a"}, {Name: "y", Count: 2, Class: "b"}}
	for _, c := range []struct {
		system *System
		policy string
		want   float64
	}{
		{two(2.02), "mct", 3 / 2.02},
		{two(2.02), "met", 2 / 2.02},
		{two(2.02), "kpb:1", 2 / 2.02},
		{two(2.02), "kpb:2", 3 / 2.02},
		{two(2.02), "random", 1 / 1.01},
		{two(2.02), "fcfs", 3 / 2.02},
		{simple(1.01, 1, 1), "mct", 1 / 1.01},
		{mixed, "met", 8},              // b has two machines of 4
		{mixed, "kpb:1", 4},            // one machine for each class
		{mixed, "kpb:3", 8.8},          // b has one of x too, for 0.8 of the time: 4·2.2 = 4·2 + 0.8
		{mixed, "fcfs", 5 / 0.625 / 2}, // each takes half a and half b, and 5/8 for one
		{mixed, "random", 1 / (0.2/4 + 0.2)},
		{apart, "mct", 8.8},
		{apart, "cb", 8}, // b keeps to its two machines of 4
		{apart, "cb_lis", 8},
		{apart, "cb_spill", 8.8},
	} {
		if got := c.system.Limit(c.policy, &Options{Time: 1}); !near(Number(got), c.want, 1e-9) {
			t.Errorf("%s of %s: %g, want %g", c.policy, c.system.Name, got, c.want)
		}
	}
	s := two(2.02)
	s.Decide = ByMachines
	if got := s.Limit("local", &Options{Time: 1}); !near(Number(got), 1/1.01, 1e-9) {
		t.Errorf("local: %g, want %g", got, 1/1.01)
	}
	s.Failures = []Failures{{Rate: 1e-9, MeanFault: 1e-9}}
	if got := s.Limit("local", &Options{Time: 1}); !near(Number(got), s.Lambda(), 1e-12) {
		t.Errorf("with faults: %g, want lambda*, %g, since more is not known", got, s.Lambda())
	}
}

// One hundredth too much fills a queue so slowly that a run does not show it. It is known before.
func TestOverloadedByAHundredth(t *testing.T) {
	two := &System{Name: "two", Classes: []string{"a"}, Machines: []Line{{Name: "fast"}, {Name: "slow"}},
		Mu: [][]float64{{2, 1}}, Alpha: []float64{2.02}}
	hidden := 0 // runs in which no queue grows to be seen
	run := func(s *System, seed uint64, policies []string, want []bool) {
		r, err := Run(context.Background(), s, Options{Policies: policies, Time: 2000, Replications: 6, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		for k, x := range r.Results {
			if x.Stable != want[k] {
				t.Errorf("%s, %s, seed %d: stable %v with a limit of %.3f, want %v",
					s.Name, x.Policy, seed, x.Stable, float64(x.Limit), want[k])
			}
			for _, one := range x.Runs {
				if !want[k] && !one.Grows {
					hidden++
				}
			}
		}
	}
	for seed := range uint64(5) {
		run(two, seed, []string{"met", "kpb:1", "random", "mct"}, []bool{false, false, false, true})
		run(simple(1.01, 1, 1), seed, []string{"mct", "fcfs"}, []bool{false, false})
		run(simple(0.8, 1, 1), seed, []string{"mct", "fcfs"}, []bool{true, true})
	}
	if hidden == 0 {
		t.Error("every run shows by itself that it fills up: the test is no test")
	}
}

// The same for every policy that there is: that place at once, at mapping events, or have idle machines take, at once
// and late; by a mapper and by machines; where machines fail, rates move, availabilities change, and classes are kept
// apart.
func TestOverloadedUnderEveryPolicy(t *testing.T) {
	base := func() *System {
		return &System{Name: "base", Classes: []string{"a", "b"}, Machines: []Line{{Name: "x", Count: 2}, {Name: "y"}},
			Mu: [][]float64{{2, 1}, {1, 3}}, Alpha: []float64{1, 1}, Mapping: &Mapping{Interval: 1}}
	}
	for name, change := range map[string]func(*System){
		"at rest":  func(*System) {},
		"machines": func(s *System) { s.Decide = ByMachines },
		"failures": func(s *System) { s.Failures = []Failures{{Rate: 0.1, MeanFault: 2}} },
		"changes": func(s *System) {
			s.RateChanges = &RateChanges{MeanInterval: 10, Alpha: []float64{1, 1.4}, Mu: []float64{1, 2}}
		},
		"delay":     func(s *System) { s.Delay = 0.1 },
		"partial":   func(s *System) { s.Availability = []Availability{{Fixed: 0.5}, {Fixed: 1}} },
		"by class":  func(s *System) { s.Machines[0].Class, s.Machines[1].Class = "a", "b" },
		"corrected": func(s *System) { s.Delay, s.Told = 0.1, Corrected },
	} {
		for _, policy := range Policies() {
			s := base()
			change(s)
			if policy == "local" {
				s.Decide = ByMachines
			}
			o := Options{Policies: []string{policy}, Time: 100, Replications: 1, Seed: 1}
			if o.Check(s) != nil {
				continue // this system does not take it
			}
			over := 1.01 * s.Limit(policy, &o)
			for i := range s.Alpha {
				s.Alpha[i] *= over
			}
			if got := s.Limit(policy, &o); !near(Number(got), 1/1.01, 1e-6) {
				t.Errorf("%s, %s: limit %g at a load of 1.01, want 1/1.01", name, policy, got)
			}
			r, err := Run(context.Background(), s, o)
			if err != nil {
				t.Fatal(err)
			}
			if x := r.Results[0]; x.Stable || x.Tasks == 0 {
				t.Errorf("%s, %s: stable %v with %d tasks at a load of 1.01", name, policy, x.Stable, x.Tasks)
			}
		}
	}
}
