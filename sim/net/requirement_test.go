package net

import (
	"context"
	"strings"
	"testing"
)

// picky has tasks that only fast nodes may run, tasks that would rather have slow ones, and nodes that take no short
// tasks.
const picky = `name: picky
start: 10s
time: 3m
classes:
  long: {mean: 3s, size: deterministic, where: node.speed >= 2}
  short: {mean: 1s, size: deterministic, rank: -node.speed}
nodes:
  - {name: fast, count: 2, cpus: 2, speed: 2}
  - {name: slow, count: 2, cpus: 2}
  - {name: closed, count: 2, cpus: 4, speed: 4, accept: job.class != "short"}
network: {latency: 1ms, mesh: true}
node: {members: 1}
workload:
  - {class: long, tasks: 24, once: 10s, from: [slow]}
  - {class: short, tasks: 3, once: 60s, from: [fast]}
`

// The oracle checks that no task starts where its requirement does not hold, or where it is not accepted. The short
// tasks go to slow nodes, which they rank higher, while these are idle.
func TestRequirementsInTheSimulator(t *testing.T) {
	s, _, err := ParseScenario("s.yaml", []byte(picky), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Replications = 1
	r, err := Run(context.Background(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Ended != 27 {
		t.Errorf("%d ended, want 27", r.Ended)
	}
	for i := range r.Classes {
		c := &r.Classes[i]
		if c.Class == "short" && (c.Completion.Mean < 1 || c.Completion.Mean > 1.5) {
			t.Errorf("short tasks take %.2f s on average, want the second of a slow node", c.Completion.Mean)
		}
		if c.Class == "long" && c.Completion.Mean > 5 { // 12 cores of speed 2 and 4
			t.Errorf("long tasks take %.2f s on average, want at most that of the fast nodes", c.Completion.Mean)
		}
	}
}

func TestRequirementsOfScenariosAreChecked(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"node.speed >= 2", "node.speed >= 5", "no machine can run it"},
		{"node.speed >= 2", "node.sped >= 2", "s.yaml:5:48: where column 1: node.sped is not known here"},
		{"-node.speed", "node.speed > 1", "rank column 12: the whole is true or false: want a number"},
		{`job.class != "short"`, `time.hour > 3`, "accept asks for the time"},
		{`job.class != "short"`, `job.class`, "accept column 1: the whole is text: want true or false"},
	} {
		_, _, err := ParseScenario("s.yaml", []byte(strings.Replace(picky, c.from, c.to, 1)), nil, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.to, err, c.want)
		}
	}
}
