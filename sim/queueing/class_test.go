package queueing

import (
	"context"
	"math"
	"strings"
	"testing"
)

// twoClusters is S|L with machines that decide: half of all tasks arrive at each.
func twoClusters(small, large float64) *System {
	return &System{Name: "two", Classes: []string{"small", "large"}, Decide: ByMachines,
		Service:  Distribution{Kind: Deterministic},
		Machines: []Line{{Name: "s", Class: "small", Cluster: "a"}, {Name: "l", Class: "large", Cluster: "b"}},
		Mu:       [][]float64{{0.02, 0.02}, {0.001, 0.001}}, Alpha: []float64{small, large}}
}

// Kept apart, each class is an M/D/1 queue of its own: W = S + λS²/(2(1−λS)).
func TestClassesKeptApart(t *testing.T) {
	s := twoClusters(0.01, 0.0005)
	r, err := Run(context.Background(), s,
		Options{Policies: []string{"cb", "cb_rr", "cb_frr", "cb_rr2", "cb_li", "cb_lis"}, Time: 4e6, Warmup: 4e5,
			Replications: 4, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range r.Results {
		for i, c := range []struct{ s, lambda float64 }{{50, 0.01}, {1000, 0.0005}} {
			want := c.s + c.lambda*c.s*c.s/(2*(1-c.lambda*c.s))
			if got := float64(x.ByClass[i].Mean); math.Abs(got/want-1) > 0.06 {
				t.Errorf("%s, class %d: W %g, want %g", x.Policy, i, got, want)
			}
		}
	}
}

// The three readings of the running task are known apart, and mct counts it in full.
func TestReadings(t *testing.T) {
	s := twoClusters(0.02, 0.0008)
	r, err := Run(context.Background(), s, Options{Policies: []string{"mct", "mct_full", "mct_rest", "mct_queued"},
		Time: 1e6, Replications: 2, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	w := func(k int) float64 { return float64(r.Results[k].W.Mean) }
	if w(0) != w(1) || w(2) >= w(3) || w(2) >= w(0) {
		t.Errorf("W %g, %g, %g, %g: want mct as mct_full, and mct_rest, which knows all here, before both others", w(0), w(1),
			w(2), w(3))
	}
}

func TestClassOfALine(t *testing.T) {
	s := twoClusters(0.02, 0.001)
	s.Machines[1].Class = "huge"
	if p := s.Check(); len(p) != 1 || !strings.Contains(p.Error(),
		`machines[1].class: "huge": want one of the classes, small, large`) {
		t.Errorf("problems %v", p)
	}
}
