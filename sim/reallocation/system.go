package reallocation

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"skep/balance/utility"
)

// System is the grid and its tasks.
type System struct {
	Clusters []int    `yaml:"clusters"` // processors of each
	Unit     float64  `yaml:"unit"`     // in which completion times are told, seconds
	Workload Workload `yaml:"workload"`

	// Uneven: the performance of each cluster is uniform on [0.5, 1.5], scaled so that all together have that of an even
	// grid [1, equation 4.13].
	Uneven bool `yaml:"uneven"`

	Solver Solver `yaml:"solver"`

	// Backfill is what starts between ticks: "any" waiting task in the order of arrival, or those that "easy" would start.
	// [1] does not say.
	Backfill string `yaml:"backfill"`

	Data Data `yaml:"data"` // inputs of tasks; without storage there are none
}

// Workload is what the tasks are.
type Workload struct {
	// Kind is "random" [1, section 4.5.1] or "trace", drawn like that of section 4.5.2, which is not to be had.
	Kind  string `yaml:"kind"`
	Tasks int    `yaml:"tasks"`

	// Widest is the base-2 logarithm of the most processors that a task of the random workload wants, each from 0 on
	// alike. [1] does not say.
	Widest int `yaml:"widest"`

	// Options is the number of widths of a task: all the processors that it wants, half of them, and so on. [1] does not
	// say.
	Options int `yaml:"options"`

	// Worth is the exponent of the value of fewer processors: v(P) = v_max (P / P_max)^worth [1, equation 4.6].
	Worth float64 `yaml:"worth"`

	// Trace says what the drawn trace is like.
	Trace Trace `yaml:"trace"`
}

// Trace is the distribution of wall-clock times of the drawn trace: log-normal, redrawn outside the bounds, seconds.
type Trace struct {
	Median   float64    `yaml:"median"`
	Sigma    float64    `yaml:"sigma"` // of the logarithm
	Bounds   [2]float64 `yaml:"bounds"`
	Interval float64    `yaml:"interval"` // mean time between arrivals, before it is scaled
}

// Solver is how options are chosen at a tick. [1] does not say how: it names a heuristic that is near the optimum.
type Solver struct {
	Beta   float64 `yaml:"beta"`   // see knapsack.Config
	Rounds int     `yaml:"rounds"` // of prices; 0 = the greedy pass alone
}

// widths are how often the trace's tasks want 1, 2, 4 … 128 processors.
var widths = [...]float64{0.30, 0.13, 0.15, 0.18, 0.13, 0.07, 0.03, 0.01}

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
		want(c >= 1 && c <= 1e6, "clusters: %d processors: want from 1 to 1e6", c)
	}
	w := &s.Workload
	want(s.Unit > 0, "unit %v: want seconds above 0, as in 1e6", s.Unit)
	want(w.Kind == "random" || w.Kind == "trace", "workload.kind %.40q: want random or trace", w.Kind)
	want(w.Tasks >= 2 && w.Tasks <= 100_000, "workload.tasks %d: want from 2 to 100,000", w.Tasks)
	want(w.Widest >= 0 && w.Widest <= 16, "workload.widest %d: want from 0 to 16", w.Widest)
	want(w.Options >= 1 && w.Options <= 16, "workload.options %d: want from 1 to 16", w.Options)
	want(w.Worth > 0 && w.Worth <= 10, "workload.worth %v: want above 0, at most 10", w.Worth)
	want(s.Solver.Beta >= 0 && s.Solver.Beta <= 1, "solver.beta %v: want from 0 to 1", s.Solver.Beta)
	want(s.Solver.Rounds >= 0 && s.Solver.Rounds <= 10_000, "solver.rounds %d: want from 0 to 10,000", s.Solver.Rounds)
	want(slices.Contains([]string{"any", "easy"}, s.Backfill), "backfill %.40q: want any or easy", s.Backfill)
	if err := s.Data.check(len(s.Clusters)); err != nil {
		errs = append(errs, err)
	}
	want(!s.Data.on() || w.Kind == "trace" && s.Backfill == "any", "data: want workload.kind trace and backfill any")
	if t := w.Trace; w.Kind == "trace" {
		want(t.Median > 0 && t.Sigma >= 0 && t.Sigma <= 10 && t.Interval >= 0, "workload.trace: want a median above 0, and "+
			"sigma and interval from 0 on")
		want(t.Bounds[0] > 0 && t.Bounds[0] <= t.Median && t.Median <= t.Bounds[1],
			"workload.trace.bounds %v: want the median between them", t.Bounds)
	}
	return errors.Join(errs...)
}

// Strategy is what decides where tasks run.
type Strategy struct {
	Name     string
	Utility  string  // of utility.Parse; "" = none
	Backfill bool    // between the ticks
	Tau      float64 // time between ticks, seconds; 0 = there are none
}

// ParseStrategy reads fcfs, data_fcfs, easy, min_min, or with hours between ticks gang:6, um_p1:6, um_p1+bf:6 and
// credit:0.5:6: any utility function that has a name, with its parameter. Ticks may be in seconds, data:255.2s.
func ParseStrategy(t string) (s Strategy, err error) {
	s.Name, _, _ = strings.Cut(t, ":")
	switch s.Name {
	case "fcfs", "data_fcfs", "easy", "min_min":
		if s.Name != t {
			return s, fmt.Errorf("strategy %.40q: %s has no ticks: want it alone", t, s.Name)
		}
		return s, nil
	}
	name, hours := t, ""
	if at := strings.LastIndex(t, ":"); at >= 0 {
		name, hours = t[:at], t[at+1:]
	}
	if s.Name != "gang" {
		s.Utility, s.Backfill = strings.CutSuffix(name, "+bf")
		if _, err := utility.Parse(s.Utility); err != nil {
			return s, fmt.Errorf("strategy %.40q: is not known: want fcfs, data_fcfs, easy, min_min, gang:6, um_p1:6 or "+
				"um_p1+bf:6: %w",
				t, err)
		}
	}
	number, seconds := strings.CutSuffix(hours, "s")
	if s.Tau, err = strconv.ParseFloat(number, 64); err != nil || !(s.Tau > 0) || math.IsInf(s.Tau, 0) {
		return s, fmt.Errorf("strategy %.40q: hours %.20q: want a number above 0, as in %s:6", t, hours, name)
	}
	if !seconds {
		s.Tau *= hour
	}
	return s, nil
}
