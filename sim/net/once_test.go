package net

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"
)

// oneBag is a job of eight tasks of 3 s at 10 s on four slots, and another of one task at 12 s.
const oneBag = `name: bag
start: 10s
time: 2m
classes:
  a: {mean: 3s}
nodes:
  - {name: n, count: 2, cpus: 2}
network: {latency: 1ms, mesh: true}
node: {members: 1}
workload:
  - {class: a, tasks: 8, once: 10s, from: [n]}
  - {class: a, once: 12s}
`

// A job that comes once comes at its time with all its tasks; the makespan is from the first to arrive to the last to
// end: two rounds of four, and the ninth task.
func TestABagComesOnce(t *testing.T) {
	s, _, err := ParseScenario("s.yaml", []byte(oneBag), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Replications = 1
	work := s.Arrivals(1)
	if len(work) != 2 || work[0].At != 10*time.Second || work[0].Spec.Count != 8 || work[1].At != 12*time.Second ||
		work[1].Spec.Count != 1 {
		t.Fatalf("work %+v, want eight tasks at 10 s and one at 12 s", work)
	}
	run := func() *Report {
		r, err := Run(context.Background(), s, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := run()
	if r.Ended != 9 || r.Makespan.Mean < 9 || r.Makespan.Mean > 9.5 {
		t.Errorf("%d ended, makespan %.2f s; want all nine in three rounds of 3 s", r.Ended, r.Makespan.Mean)
	}
	s.Warmup = 11 * time.Second
	if r := run(); r.Makespan.Mean < 3 || r.Makespan.Mean > 7.5 {
		t.Errorf("makespan %.2f s of what came after the warm-up, want that of the last job from 12 s on", r.Makespan.Mean)
	}
	s.Warmup = 20 * time.Second
	if r := run(); !math.IsNaN(r.Makespan.Mean) {
		t.Errorf("makespan %.2f s of nothing, want none", r.Makespan.Mean)
	}
}

func TestOnceIsChecked(t *testing.T) {
	for text, want := range map[string]string{"once: 3m": "before the end", "once: 12s, rate: 1": "want no rate",
		"tasks: 3": "want more than 0, once"} {
		_, _, err := ParseScenario("s.yaml", []byte(strings.Replace(oneBag, "once: 12s", text, 1)), nil, nil)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "s.yaml:12") {
			t.Errorf("%s: %v, want an error of line 12 with %q", text, err, want)
		}
	}
}
