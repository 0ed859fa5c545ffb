package net

import (
	"strings"
	"testing"
)

// crowded is a machine that is busy with what takes long, and from time to time gets what is short and wanted soon.
const crowded = `name: crowded
start: 10s
warmup: 2m
time: 42m
seed: 3
classes:
  long: {mean: 60s, size: deterministic}
  urgent: {mean: 3s, size: deterministic, priority: 8}
nodes:
  - {name: n, count: 1, cpus: 2}
node: {members: 1}
order: fifo
SETTING
workload:
  - {class: long, rate: 0.025, from: [n]}
  - {class: urgent, rate: 0.03, from: [n]}
`

// Where the cores are allocated anew as tasks come, what bids much need not wait for what takes long, which is
// delayed by what that takes alone: nothing is lost, and the cores do as much.
func TestReallocationHelpsWhatIsUrgent(t *testing.T) {
	without := reallocated(t, "")
	with := reallocated(t, "reallocate: 1m,1s")
	a, b := without.Worth.All.WCT.Mean, with.Worth.All.WCT.Mean
	t.Logf("completion weighted by bids: %.1f s without, %.1f s with", a, b)
	if b > 0.7*a {
		t.Error("want it at most 0.7 of that with reallocation")
	}
	if busy := with.Utilisation.Mean / without.Utilisation.Mean; busy < 0.98 || busy > 1.02 {
		t.Errorf("the cores do %.3f of the work: want as much", busy)
	}
	if with.Lost+without.Lost > 0 {
		t.Error("tasks are lost")
	}
	if never := reallocated(t, "reallocate: never"); never.Worth.All.WCT.Mean != a {
		t.Error("never is not as if nothing was said")
	}
}

func reallocated(t *testing.T, setting string) *Report {
	t.Helper()
	s, _, err := ParseScenario("s.yaml", []byte(strings.Replace(crowded, "SETTING", setting, 1)), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return run(t, s)
}
