package paper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/goccy/go-yaml"

	"skep/grid"
	"skep/sim/net"
)

// bag is a system of the world bags: tasks of a node that runs none, and machines of one core that it places them on.
// Execution times are drawn for each replication by ranges: with τ_i from 1 to Times.Tasks of kind i, and u from 1 to
// Times.Machines, both uniform,
//
//	e_ij = c·τ_i·u
//
// c being such that the machines, were each task on its best one and their work even, would be busy for Busy.
type bag struct {
	Machines int    `yaml:"machines"`
	Tasks    int    `yaml:"tasks"`
	Kinds    int    `yaml:"kinds"` // of tasks with the same times, at most 16: as many as a node tells of
	Times    ranges `yaml:"times"`
	Matrix   matrix `yaml:"matrix"`

	// Long is by how many times the tasks of one kind are longer than the longest of the others may be, whose τ is up to
	// Times.Tasks; 0 = it is as the others.
	Long float64 `yaml:"long"`

	Busy time.Duration `yaml:"busy"`

	// Arrive is the part of Busy in which the tasks come, one by one, as a Poisson process; 0 = all at once, as a job for
	// each kind.
	Arrive float64 `yaml:"arrive"`

	// Error is how far sizes are from what is told: they are that times 1−Error to 1+Error, uniform.
	Error float64 `yaml:"error"`

	// Inputs are the bytes of each kind's input, which the submitting node has, and Link how many a machine gets in a
	// second.
	Inputs grid.Bytes `yaml:"inputs"`
	Link   grid.Bytes `yaml:"link"`
}

// ranges are how different times are.
type ranges struct {
	Tasks    float64 `yaml:"tasks"`
	Machines float64 `yaml:"machines"`
}

// matrix is what times on different machines have to do with each other.
type matrix string

const (
	inconsistent matrix = "inconsistent" // u is drawn for each kind and machine
	consistent   matrix = "consistent"   // so, and sorted: a machine that is faster for one kind is for all
	related      matrix = "related"      // u is drawn for each machine: its speed
)

func readBag(file string, b []byte) (*bag, error) {
	s := &bag{}
	if err := yaml.UnmarshalWithOptions(b, s, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	switch {
	case s.Machines < 1 || s.Tasks < s.Kinds || s.Kinds < 1 || s.Kinds >= grid.MaxRates || s.Busy <= 0:
		return nil, fmt.Errorf("%s: want machines, 1 to %d kinds, as many tasks or more, and busy", file, grid.MaxRates-1)
	case !slices.Contains([]matrix{inconsistent, consistent, related}, s.Matrix):
		return nil, fmt.Errorf("%s: matrix %q: want inconsistent, consistent or related", file, s.Matrix)
	case !(s.Times.Tasks >= 1 && s.Times.Machines >= 1 && s.Error >= 0 && s.Error < 1 && s.Arrive >= 0 && s.Long >= 0):
		return nil, fmt.Errorf("%s: want ranges of times from 1 on, an error from 0 to below 1, arrive and long from 0 on",
			file)
	case (s.Inputs > 0) != (s.Link > 0):
		return nil, fmt.Errorf("%s: want both inputs and link, or none", file)
	}
	return s, nil
}

// knowledgeFree are the policies that know nothing of tasks: all tasks are of one job, with sizes drawn from those of
// the kinds. Such a job may have second copies of its tasks.
var knowledgeFree = []string{"workqueue", "workqueue:2", "rr_replicated"}

var errOneJob = errors.New("machines that are faster for some tasks alone: want matrix: related, and all at once")

// bags runs policies. A replication has the same times and arrivals under each.
func (w *work) bags(ctx context.Context, x run, l length) (out []ran, err error) {
	b := w.study.bags[x.scenario]
	for _, policy := range x.policies {
		r := newRan(policy)
		for k := range l.replications {
			s, err := b.draw(policy, w.options.Seed+uint64(k))
			if err != nil {
				return out, fmt.Errorf("%s: %w", policy, err)
			}
			m, err := net.Run(ctx, s, nil)
			if err != nil {
				return out, fmt.Errorf("%s: %w", policy, err)
			}
			if ctx.Err() != nil {
				return out, ctx.Err()
			}
			if m.Ended != b.Tasks || m.Failed > 0 {
				return out, fmt.Errorf("%s: %d of %d tasks ended, %d of them failed", policy, m.Ended, b.Tasks, m.Failed)
			}
			r.take("makespan", m.Makespan.Mean)
			w.did(1)
		}
		out = append(out, r)
	}
	return out, nil
}
