package net

import (
	"context"
	"strings"
	"testing"
)

// gpus is ten tasks of 3 s that need a GPU, on one node of sixteen cores with two of them, beside some that need none.
const gpus = `name: gpus
start: 10s
time: 3m
classes:
  train: {mean: 3s, size: deterministic, resources: {gpu: 1}}
  plain: {mean: 3s, size: deterministic}
nodes:
  - {name: big, cpus: 16, resources: {gpu: 2}}
  - {name: small, count: 3, cpus: 4}
network: {latency: 1ms, mesh: true}
node: {members: 1}
workload:
  - {class: train, tasks: 10, once: 10s, from: [small]}
  - {class: plain, tasks: 28, once: 11s, from: [small]}
`

// Tasks run two at a time, as there are GPUs, whatever cores are free: ten of 3 s take five rounds. The oracle checks
// each start. Tasks that need none are not held up: 28 have 28 slots less those of the two.
func TestCountedResourcesInTheSimulator(t *testing.T) {
	s, _, err := ParseScenario("s.yaml", []byte(gpus), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Replications = 1
	r, err := Run(context.Background(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Ended != 38 || r.Makespan.Mean < 15 || r.Makespan.Mean > 16.5 {
		t.Errorf("%d ended, makespan %.2f s: want 38 in five rounds of 3 s", r.Ended, r.Makespan.Mean)
	}
	for i := range r.Classes {
		if c := &r.Classes[i]; c.Class == "plain" && c.Completion.Mean > 4.5 {
			t.Errorf("tasks without a GPU take %.2f s on average: they wait behind those with one", c.Completion.Mean)
		}
	}
}

// What no group has, and names that are none, are told with their places.
func TestCountedResourcesAreChecked(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"resources: {gpu: 1}", "resources: {fpga: 1}", "no machine can run it"},
		{"resources: {gpu: 1}", "resources: {gpu: 3}", "no machine can run it"},
		{"resources: {gpu: 1}", "resources: {GPU: 1}", "lower-case letters"},
		{"resources: {gpu: 2}", "resources: {gpu: 2000}", "0 to 1024"},
		{"start: 10s", "seed: 1\nstart: 10s", ""},
	} {
		_, _, err := ParseScenario("s.yaml", []byte(strings.Replace(gpus, c.from, c.to, 1)), nil, nil)
		if c.want == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.to, err, c.want)
		}
	}
}

// The allocation LP knows that a core of such a node does not stand for a GPU.
func TestLoadOfCountedResources(t *testing.T) {
	text := strings.NewReplacer("tasks: 10, once: 10s", "rate: 0.6", "tasks: 28, once: 11s", "rate: 0.1").Replace(gpus)
	s, _, err := ParseScenario("s.yaml", []byte(text), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, lambda := s.Check(); lambda < 1 || lambda > 1.2 {
		t.Errorf("λ* %.3g: want about 1.1, two GPUs at one task in 3 s each for 0.6 a second", lambda)
	}
}

// Nodes that come and go, take tasks back and start backup attempts never give more than they have: the oracle checks
// each start.
func TestCountedResourcesWhereNodesComeAndGo(t *testing.T) {
	text := strings.NewReplacer("cpus: 16, resources",
		"count: 4, session: {exponential: 20s}, away: {exponential: 2s}, leaves: 0.5, cpus: 16, resources",
		"tasks: 10, once: 10s", "rate: 1", "tasks: 28, once: 11s", "rate: 3",
		"node: {members: 1}", "node: {members: 3}\npolicy: workqueue:2",
		"resources: {gpu: 1}", "resources: {gpu: 1}, idempotent: true").Replace(gpus)
	s, _, err := ParseScenario("s.yaml", []byte(text), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Replications = 2
	r, err := Run(context.Background(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Complete || r.Ended < 500 {
		t.Errorf("complete %v, %d ended", r.Complete, r.Ended)
	}
}
