package net

import (
	"context"
	"strings"
	"testing"
)

// mixedBags is arrays of three classes that nodes run inconsistently: each is the faster for some.
const mixedBags = `name: mixed-bags
start: 5s
time: 65s
rates: given
classes:
  short: {mean: 1s}
  long: {mean: 8s}
  other: {mean: 4s, idempotent: true}
nodes:
  - {name: own, count: 1, cpus: 1, rates: {short: 1, long: 0.05, other: 0.1}}
  - {name: x, count: 3, cpus: 1, rates: {short: 2, long: 0.1, other: 0.25}}
  - {name: y, count: 3, cpus: 1, rates: {short: 0.5, long: 0.25, other: 0.2}}
network: {latency: 2ms, mesh: true}
node: {members: 1}
workload:
  - {class: short, rate: 2.2, from: [own]}
  - {class: long, rate: 0.25, from: [own]}
  - {class: other, rate: 0.5, tasks: 4, from: [own]}
`

func mixed(t *testing.T, policy string) *Scenario {
	t.Helper()
	s, _, err := ParseScenario("s.yaml", []byte(mixedBags+"policy: "+policy+"\n"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Replications = 1
	return s
}

// The heuristics map the waiting tasks of all jobs, each in its own way: no two of the four give the same digest.
func TestHeuristicsDifferInTheNode(t *testing.T) {
	seen := map[string]string{}
	for _, policy := range []string{"min_min", "max_min", "sufferage", "utility"} {
		s := mixed(t, policy)
		r, err := Run(context.Background(), s, nil)
		if err != nil {
			t.Fatal(err)
		}
		digest := r.Digest
		if other, is := seen[digest]; is {
			t.Errorf("%s is the same as %s", policy, other)
		}
		seen[digest] = policy
	}
}

// A class that is idempotent makes jobs whose tasks may have second copies; others make none.
func TestIdempotentClasses(t *testing.T) {
	s := mixed(t, "workqueue:2")
	for _, sub := range s.Arrivals(1) {
		if want := sub.Spec.Class == "other"; sub.Spec.Idempotent != want {
			t.Fatalf("a job of class %s is idempotent: %v, want %v", sub.Spec.Class, sub.Spec.Idempotent, want)
		}
	}
	_, _, err := ParseScenario("s.yaml", []byte(strings.Replace(mixedBags, "idempotent: true", "idempotent: 2", 1)), nil,
		nil)
	if err == nil || !strings.Contains(err.Error(), "s.yaml:8") {
		t.Errorf("idempotent: 2 is %v, want an error of line 8", err)
	}
}
