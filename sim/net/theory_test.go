package net

import (
	"math"
	"testing"
	"time"

	"skep/grid"
	"skep/sim"
)

// One node alone is an M/M/c queue: W = 1/μ + C(c, λ/μ)/(cμ − λ), with Erlang's C. The node's overhead, a millisecond
// to start a task, is far below the bound.
func TestOneNodeIsAnMMc(t *testing.T) {
	for _, c := range []struct {
		cores  int
		lambda float64
		want   float64
	}{{1, 0.5, 2}, {1, 0.7, 1 / 0.3}, {4, 3, 1 + 0.509434}} {
		s := &Scenario{Name: "mmc", Seed: 11, Replications: 10, Start: time.Second, Warmup: 100 * time.Second,
			Time: 3000 * time.Second, Node: alone(),
			Groups: []Group{{Name: "one", Count: 1, Cores: float64(c.cores), Memory: grid.GiB, Speed: 1}},
			Classes: []Class{{Name: "a", Mean: time.Second, Size: sim.Exponential(),
				Needs: grid.Needs{Resources: grid.Resources{CPU: grid.CPU}}}},
			Streams: []Stream{{Class: "a", Rate: c.lambda}}}
		r := run(t, s)
		w := r.Classes[0].Completion
		if math.Abs(w.Mean-c.want) > 2*w.Half || w.Half > 0.15*c.want {
			t.Errorf("%d cores at %g a second: W = %.3f ± %.3f, want %.3f", c.cores, c.lambda, w.Mean, w.Half, c.want)
		}
		if u := c.lambda / float64(c.cores); math.Abs(r.Utilisation.Mean-u) > 3*r.Utilisation.Half+0.01 {
			t.Errorf("%d cores at %g a second: utilisation %.3f ± %.3f, want %.3f", c.cores, c.lambda, r.Utilisation.Mean,
				r.Utilisation.Half, u)
		}
	}
}
