package recovery

import (
	"errors"
	"fmt"
	"slices"

	"github.com/goccy/go-yaml"

	"skep/balance/utility"
)

// System is the grid, its tasks and how they fail [1, Table 7.2].
type System struct {
	Clusters []int   `yaml:"clusters"` // processors of each; their performances are uniform on [0.5, 1.5]
	Tau      float64 `yaml:"tau"`      // time between allocations, seconds
	Longest  float64 `yaml:"longest"`  // lengths of tasks are uniform up to it, seconds at performance 1
	Failing  Failing `yaml:"failing"`

	// Values says for what a value is drawn, uniform up to the task's length: for each "option", for each "technique" of a
	// task, or for each "task". [1] speaks of the value of an option.
	Values string `yaml:"values"`

	// Beta is how much demand counts in the choice of options (see knapsack.Config). [1] does not say how it solves its
	// problems.
	Beta float64 `yaml:"beta"`
}

// Failing is the probability that a run fails, which a task has for each cluster: normal, drawn again outside of 0 to
// 1. [1] does not say how far it spreads.
type Failing struct {
	Mean      float64 `yaml:"mean"`
	Deviation float64 `yaml:"deviation"`
}

// values are what System.Values may be.
var values = []string{"option", "technique", "task"}

// Default is what a file leaves out.
func Default() *System {
	return &System{Clusters: []int{16, 16, 32, 128}, Tau: 100, Longest: 86_400, Failing: Failing{0.1, 0.03},
		Values: "option", Beta: 1}
}

// Read reads a system from a YAML file; name is the file's, for errors.
func Read(name string, b []byte) (*System, error) {
	s := Default()
	if err := yaml.UnmarshalWithOptions(b, s, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// Check reports everything that a system cannot have.
func (s *System) Check() error {
	var errs []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	want(len(s.Clusters) > 0 && len(s.Clusters) <= 100, "clusters: there are %d: want 1 to 100", len(s.Clusters))
	for _, c := range s.Clusters {
		want(c >= 2 && c <= 1e6, "clusters: %d processors: want from 2 to 1e6, as a task may run twice at once", c)
	}
	want(s.Tau > 0 && s.Tau <= 1e9, "tau %v: want seconds above 0", s.Tau)
	want(s.Longest > 0 && s.Longest <= 1e9, "longest %v: want seconds above 0", s.Longest)
	want(s.Failing.Mean > 0 && s.Failing.Mean < 1, "failing.mean %v: want between 0 and 1", s.Failing.Mean)
	want(s.Failing.Deviation >= 0 && s.Failing.Deviation <= 1, "failing.deviation %v: want from 0 to 1",
		s.Failing.Deviation)
	want(slices.Contains(values, s.Values), "values %.40q: want option, technique or task", s.Values)
	want(s.Beta >= 0 && s.Beta <= 1, "beta %v: want from 0 to 1", s.Beta)
	return errors.Join(errs...)
}

// Strategy is what decides where tasks run, and what is done about failures.
type Strategy struct {
	Name      string
	Heuristic utility.Heuristic // but of fcfs, which takes any option that fits
}

// fcfs takes tasks in their order.
const fcfs = "fcfs"

var strategies = []Strategy{{Name: fcfs}, {"value", utility.ByValue}, {"value_cost", utility.ByValuePerCost},
	{"value_ert", utility.ByValuePerDelay}}

// ParseStrategy reads the name of a strategy.
func ParseStrategy(name string) (Strategy, error) {
	for _, s := range strategies {
		if s.Name == name {
			return s, nil
		}
	}
	return Strategy{}, fmt.Errorf("strategy %.40q: is not known: want fcfs, value, value_cost or value_ert", name)
}
