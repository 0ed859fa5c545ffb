package net

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"skep/sim/rank"
)

// Comparison is how policies do in a scenario under the same seeds. A replication is one comparison: all policies meet
// the same nodes, arrivals, sizes and faults in it.
type Comparison struct {
	Scenario     string   `json:"scenario"`
	Seed         uint64   `json:"seed"`
	Replications int      `json:"replications"`
	Complete     bool     `json:"complete"`
	By           string   `json:"by"` // the figure compared
	Policies     []Scored `json:"policies"`
}

// Scored is one policy of a comparison.
type Scored struct {
	Policy string `json:"policy"`

	// Rank is 1 in a replication where no other policy was better; those that failed have the last ranks.
	Rank Estimate `json:"rank"`

	// Degradation is by how many percent its figure is above that of the best policy of the replication.
	Degradation Estimate `json:"degradation_pct"`

	Figure Estimate `json:"figure"`

	// Above is by how many percent its figure is above that of the policy named before it, in replications that neither
	// has failed. They differ significantly where the interval is without 0. The first has none: nil.
	Above *Estimate `json:"above_previous_pct,omitempty"`

	Best   int `json:"best"`   // replications
	Failed int `json:"failed"` // replications that were unstable, or in which tasks were lost
}

// Figures are those by which policies may be compared: mean completion time, makespan, and the mean time of an
// iteration of gangs, all in seconds.
var Figures = []string{"completion", "makespan", "iteration"}

// under returns the scenario under a policy, or under a strategy for gangs.
func (s *Scenario) under(name string) *Scenario {
	x := *s
	if slices.Contains(Strategies, name) {
		x.Strategy = name
	} else {
		x.Node.Policy = name
	}
	return &x
}

// Compare runs a scenario under each policy or strategy, one after the other, and scores them. When ctx ends it scores
// the replications that ended under all.
func Compare(ctx context.Context, s *Scenario, policies []string, by string, onProgress func(Progress)) (*Comparison,
	error) {
	if err := s.checkFigure(by); err != nil {
		return nil, err
	}
	for k, policy := range policies {
		if problems, _ := s.under(policy).Check(); len(problems) > 0 {
			return nil, fmt.Errorf("%s: %s", problems[0].Where, problems[0].What)
		}
		if slices.Contains(policies[:k], policy) {
			return nil, fmt.Errorf("policy %s: is named twice: want each once", policy)
		}
	}
	rows := make([][]float64, s.Replications)
	whole := make([]bool, s.Replications)
	for r := range rows {
		rows[r], whole[r] = make([]float64, len(policies)), true
	}
	for k, policy := range policies {
		of, err := FigureOf(ctx, s.under(policy), by, func(p Progress) {
			if onProgress != nil {
				p.Done = (float64(k) + p.Done) / float64(len(policies))
				onProgress(p)
			}
		})
		if err != nil {
			return nil, fmt.Errorf("policy %s: %w", policy, err)
		}
		for n, m := range of {
			if whole[n] = whole[n] && m != nil; whole[n] {
				rows[n][k] = *m
			}
		}
	}
	c := &Comparison{Scenario: s.Name, Seed: s.Seed, By: by, Complete: true}
	var all [][]float64
	for r, row := range rows {
		if whole[r] {
			all = append(all, row)
		} else {
			c.Complete = false
		}
	}
	c.Replications = len(all)
	for k, score := range rank.Scores(all, rank.LastInOrder) {
		c.Policies = append(c.Policies, Scored{policies[k], Estimate(score.Rank), Estimate(score.Degradation),
			Estimate(score.Figure), above(all, k), score.Best, score.Failures})
	}
	return c, nil
}

// FigureOf runs a scenario and returns one of its Figures in each replication: nil of one that did not end, NaN of one
// that was unstable or lost tasks.
func FigureOf(ctx context.Context, s *Scenario, by string, onProgress func(Progress)) ([]*float64, error) {
	if err := s.checkFigure(by); err != nil {
		return nil, err
	}
	r, err := replicateAll(ctx, s, onProgress)
	if err != nil {
		return nil, err
	}
	of := make([]*float64, len(r.samples))
	for n, m := range r.samples {
		if m != nil && m.complete && m.classes != nil {
			x := m.figure(s, by)
			of[n] = &x
		}
	}
	return of, nil
}

// checkFigure reports a figure that nothing in the workload has.
func (s *Scenario) checkFigure(by string) error {
	if by == "iteration" && len(s.gangs()) == 0 {
		return errors.New("by iteration: the workload has no gangs: want one of the others")
	}
	return nil
}

// above is by how many percent the figures of one policy are above those of the one before it.
func above(comparisons [][]float64, k int) *Estimate {
	if k == 0 {
		return nil
	}
	var all []float64
	for _, row := range comparisons {
		all = append(all, 100*(row[k]-row[k-1])/row[k-1])
	}
	e := estimate(all)
	return &e
}

// figure is what policies are compared by; NaN of a replication that failed.
func (m *sample) figure(s *Scenario, by string) float64 {
	switch {
	case !m.stable || m.lost > 0:
		return math.NaN()
	case by == "iteration":
		return m.iteration()
	case by == "makespan":
		return m.bag.makespan()
	}
	return m.mean(s)
}
