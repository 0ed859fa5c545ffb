package queueing

import (
	"context"
	"math"
	"testing"
)

// system4A is System 4.A of [1, section 4.3.1], with or without its changes of rates.
func system4A(changes bool) *System {
	s := &System{
		Name: "4.A", Classes: []string{"1", "2", "3", "4"}, Machines: make([]Line, 7),
		AlphaAt: [][]float64{
			{2, 1.5, 1.75, 1, 3, 1.9, 1.35},
			{1.35, 1.5, 2.4, 1.55, 2.9, 0.75, 1.55},
			{4, 2.75, 1, 1.35, 1.5, 0.9, 1},
			{2, 1.75, 2, 1.5, 2.25, 1.75, 0.75},
		},
		Mu: [][]float64{
			{4.5, 2, 9.5, 6.2, 10.25, 2.25, 3.95},
			{6.2, 4.5, 6, 2, 4.2, 5.9, 10.25},
			{9.5, 6.5, 4, 10, 5.9, 2.25, 3.95},
			{2.25, 10, 2, 3.95, 1.75, 10, 1.75},
		},
	}
	if changes {
		s.RateChanges = &RateChanges{MeanInterval: 1 / 0.035, Alpha: []float64{1, 1.1, 1.2}, Mu: []float64{1, 1.05, 1.15}}
	}
	return s
}

// simple is a system of one class on equal machines.
func simple(alpha, mu float64, machines int) *System {
	return &System{Name: "simple", Classes: []string{"task"}, Machines: []Line{{Count: machines}}, Mu: [][]float64{{mu}},
		Alpha: []float64{alpha}}
}

func mustRun(t testing.TB, s *System, o Options) *Report {
	t.Helper()
	if o.Replications == 0 {
		o.Replications = 2
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	r, err := Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range r.Results {
		if x.Stable && !x.LittleHolds {
			t.Errorf("%s, %s: Q and lambda·W differ by %.2f %%", s.Name, x.Policy, 100*float64(x.Little))
		}
	}
	return r
}

func near(got Number, want, part float64) bool {
	return math.Abs(float64(got)-want) <= part*math.Abs(want)
}
