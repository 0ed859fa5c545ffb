package factors

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/goccy/go-yaml"

	"skep/sim/net"
	"skep/sim/screen"
)

// Study is a scenario's file and what of it is to be screened.
type Study struct {
	Name    string // of the file, for errors
	File    []byte
	Factors []Factor
	By      string // of net.Figures

	Read   func(name string) ([]byte, error) // reads a file that the scenario names
	Change func(*net.Scenario)               // nil, or as by flags that override the file

	// Progress, if not nil, is told of the runs that have ended.
	Progress func(done, of int)
}

// Report is what came out. Figures are in seconds.
type Report struct {
	Scenario     string   `json:"scenario"`
	Seed         uint64   `json:"seed"`
	By           string   `json:"by"`
	Replications int      `json:"replications"` // that ended in all runs
	Effects      []Effect `json:"effects"`      // in the order of the factors
	Runs         []Run    `json:"runs"`
}

// Effect is what a factor does.
type Effect struct {
	Factor

	// Effect is the figure where the factor is high less that where it is low, over all levels of the others: with its
	// interval over replications, which is not known of one.
	Effect net.Estimate `json:"effect"`

	Share float64 `json:"share"` // of the mean figure of all runs
	Rank  float64 `json:"rank"`  // by size, 1 the largest
}

// Run is a run of the design.
type Run struct {
	Levels string       `json:"levels"` // a sign for each factor, + where it is high
	Figure net.Estimate `json:"figure"`
}

// Run runs the scenario with each combination of the design. An effect needs all runs: when ctx ends there is none.
func (s *Study) Run(ctx context.Context) (*Report, error) {
	design, err := screen.New(len(s.Factors))
	if err != nil {
		return nil, err
	}
	scenarios := make([]*net.Scenario, len(design))
	var file yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(s.File, &file, yaml.UseOrderedMap()); err != nil {
		if _, _, own := net.ParseScenario(s.Name, s.File, s.Read, s.Change); own != nil { // it says it better
			err = own
		}
		return nil, err
	}
	if err := checkPlaces(file, s.Factors); err != nil {
		return nil, err
	}
	for r, levels := range design {
		if scenarios[r], err = s.scenario(file, levels); err != nil {
			return nil, err
		}
	}
	runs := make([][]*float64, len(design))
	for r, x := range scenarios {
		if runs[r], err = net.FigureOf(ctx, x, s.By, nil); err != nil {
			return nil, fmt.Errorf("with %s: %w", s.describe(design[r]), err)
		}
		if slices.Contains(runs[r], nil) {
			return nil, ctx.Err()
		}
		if s.Progress != nil {
			s.Progress(r+1, len(design))
		}
	}
	return s.report(design, scenarios[0], runs)
}

// scenario is the file's with the levels of a run.
func (s *Study) scenario(file yaml.MapSlice, levels []int) (*net.Scenario, error) {
	for k, f := range s.Factors {
		var err error
		if file, err = f.set(file, f.at(levels[k])); err != nil {
			return nil, err
		}
	}
	b, err := yaml.Marshal(file)
	if err != nil {
		return nil, err
	}
	x, _, err := net.ParseScenario(s.Name, b, s.Read, s.Change)
	if err != nil {
		if _, _, own := net.ParseScenario(s.Name, s.File, s.Read, s.Change); own != nil {
			return nil, own
		}
		return nil, fmt.Errorf("with %s: %s", s.describe(levels), positions.ReplaceAllString(err.Error(), ""))
	}
	return x, nil
}

// positions are where errors are in a file with the values of a run, which nobody has seen.
var positions = regexp.MustCompile(`(?m)^[^\n]*?:\d+:\d+: `)

// describe lists what the factors of a run are set to.
func (s *Study) describe(levels []int) (out string) {
	for k, f := range s.Factors {
		if k > 0 {
			out += ", "
		}
		out += f.Key + "=" + f.at(levels[k])
	}
	return out
}

func (s *Study) report(d screen.Design, first *net.Scenario, runs [][]*float64) (*Report, error) {
	r := &Report{Scenario: first.Name, Seed: first.Seed, By: s.By, Replications: first.Replications}
	effects, mean := make([][]float64, len(s.Factors)), 0.0
	for n := range first.Replications {
		of := make([]float64, len(d))
		for k := range d {
			of[k] = *runs[k][n]
			if math.IsNaN(of[k]) {
				return nil, fmt.Errorf("with %s: replication %d is unstable or lost tasks, so that its times say nothing: want "+
					"values under which all runs are stable", s.describe(d[k]), n+1)
			}
			mean += of[k] / float64(len(d)*first.Replications)
		}
		for f, e := range d.Effects(of) {
			effects[f] = append(effects[f], e/float64(len(d)/2))
		}
	}
	sizes := make([]float64, len(s.Factors))
	for f := range s.Factors {
		e := Effect{Factor: s.Factors[f], Effect: net.EstimateOf(effects[f])}
		e.Share, sizes[f] = e.Effect.Mean/mean, e.Effect.Mean
		r.Effects = append(r.Effects, e)
	}
	for f, place := range screen.Ranks(sizes) {
		r.Effects[f].Rank = place
	}
	for k, levels := range d {
		var of []float64
		for _, x := range runs[k] {
			of = append(of, *x)
		}
		r.Runs = append(r.Runs, Run{signs(levels), net.EstimateOf(of)})
	}
	return r, nil
}

func signs(levels []int) string {
	b := make([]byte, len(levels))
	for k, x := range levels {
		b[k] = "-?+"[x+1]
	}
	return string(b)
}
