package net

import (
	"context"
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
	Best   int      `json:"best"`   // replications
	Failed int      `json:"failed"` // replications that were unstable, or in which tasks were lost
}

// Figures are those by which policies may be compared: mean completion time, and makespan, both in seconds.
var Figures = []string{"completion", "makespan"}

// Compare runs a scenario under each policy, one after the other, and scores them. When ctx ends it scores the
// replications that ended under all policies.
func Compare(ctx context.Context, s *Scenario, policies []string, by string, onProgress func(Progress)) (*Comparison,
	error) {
	for k, policy := range policies {
		x := *s
		x.Node.Policy = policy
		if problems, _ := x.Check(); len(problems) > 0 {
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
		x := *s
		x.Node.Policy = policy
		r, err := replicateAll(ctx, &x, func(p Progress) {
			if onProgress != nil {
				p.Done = (float64(k) + p.Done) / float64(len(policies))
				onProgress(p)
			}
		})
		if err != nil {
			return nil, fmt.Errorf("policy %s: %w", policy, err)
		}
		for n, m := range r.samples {
			whole[n] = whole[n] && m != nil && m.complete && m.classes != nil
			if whole[n] {
				rows[n][k] = m.figure(&x, by)
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
			Estimate(score.Figure), score.Best, score.Failures})
	}
	return c, nil
}

// figure is what policies are compared by; NaN of a replication that failed.
func (m *sample) figure(s *Scenario, by string) float64 {
	switch {
	case !m.stable || m.lost > 0:
		return math.NaN()
	case by == "makespan":
		return m.bag.makespan()
	}
	return m.mean(s)
}
