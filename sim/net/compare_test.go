package net

import (
	"context"
	"math"
	"reflect"
	"testing"
)

func comparable(t *testing.T, text string) *Scenario {
	t.Helper()
	s, _, err := ParseScenario("s.yaml", []byte(text), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A comparison has the figures that runs under each policy have, paired by replication.
func TestCompare(t *testing.T) {
	s := comparable(t, `
replications: 3
warmup: 5s
time: 30s
classes: {a: {mean: 500ms}}
nodes: [{name: fast, count: 2, cpus: 2, speed: 2}, {name: slow, count: 4, cpus: 1}]
workload: [{class: a, rate: 6}]
`)
	for by, of := range map[string]func(*Report) Estimate{"completion": func(r *Report) Estimate { return r.Completion },
		"makespan": func(r *Report) Estimate { return r.Makespan }} {
		c, err := Compare(context.Background(), s, []string{"local", "mct"}, by, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !c.Complete || c.Replications != 3 || c.Policies[0].Best+c.Policies[1].Best < 3 {
			t.Errorf("%+v: want three replications, each with a best policy", c)
		}
		for _, p := range c.Policies {
			s.Node.Policy = p.Policy
			r, err := Run(context.Background(), s, nil)
			if err != nil {
				t.Fatal(err)
			}
			if want := of(r); math.Abs(p.Figure.Mean-want.Mean) > 1e-9 || math.Abs(p.Figure.Half-want.Half) > 1e-9 {
				t.Errorf("%s of %s: %+v; a run has %+v", by, p.Policy, p.Figure, want)
			}
		}
		again, err := Compare(context.Background(), s, []string{"local", "mct"}, by, nil)
		if err != nil || !reflect.DeepEqual(c, again) {
			t.Errorf("the second time: %+v, %v; want %+v", again, err, c)
		}
	}
}

// What was interrupted is not compared.
func TestCompareInterrupted(t *testing.T) {
	s := comparable(t, `
warmup: 15s
time: 30s
classes: {a: {mean: 500ms}}
nodes: [{name: n, count: 2}]
workload: [{class: a, rate: 1}]
`)
	ctx, stop := context.WithCancel(context.Background())
	stop()
	c, err := Compare(ctx, s, []string{"local", "mct"}, "completion", nil)
	if err != nil || c.Complete || c.Replications != 0 || len(c.Policies) != 0 {
		t.Errorf("%+v, %v; want nothing", c, err)
	}
}
