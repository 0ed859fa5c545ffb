package net

import (
	"context"
	"math"
	"strings"
	"testing"
)

// inTurn is a machine that does one task of 3 s after the other, and users who want all of eight within 10 s.
const inTurn = `name: turn
start: 10s
warmup: 5s
time: 2m
classes:
  usual: {mean: 3s, size: deterministic}
  urgent: {mean: 3s, size: deterministic, priority: 4, deadline: 10s}
  soft: {mean: 3s, size: deterministic, priority: 2, deadline: {at: 2s, worthless: 6s}}
nodes:
  - {name: n, count: 1, cpus: 1}
node: {members: 1}
workload:
  - {class: urgent, tasks: 8, once: 10s, user: ada}
  - {class: urgent, tasks: 8, once: 40s, user: ben}
  - {class: soft, once: 50s, user: ada}
  - {class: usual, once: 60s}
`

// Three of the first eight are done by their deadline. Then it is known how long they take, so the next eight are
// refused: they are not lost. What is soft and late by half of the time until it is worthless is worth three quarters.
func TestWorthOfResults(t *testing.T) {
	s, _, err := ParseScenario("s.yaml", []byte(inTurn), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(context.Background(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Lost != 0 || r.Rejected != 1 || !r.Stable || r.Worth == nil {
		t.Fatalf("%d lost, %d rejected, stable %v", r.Lost, r.Rejected, r.Stable)
	}
	near := func(what string, got, want float64) {
		if !(math.Abs(got-want) <= 0.01*want) {
			t.Errorf("%s: %.4g, want %.4g", what, got, want)
		}
	}
	a := &r.Worth.All
	if a.Tasks != 18 || a.Missed != 5 || a.Refused != 8 {
		t.Errorf("%d tasks, %d missed, %d refused: want 18, 5, 8", a.Tasks, a.Missed, a.Refused)
	}
	near("completion", a.Completion.Mean, (3+6+9+3+3)/5.0)
	near("WCT", a.WCT.Mean, (4*(3+6+9)+2*3+3)/5.0)
	near("WCR", a.WCR.Mean, (3*4+1)/(16*4+2+1.0))
	near("utility", a.Utility.Mean, (3*4*3+2*0.75*3+3)/18)
	if b := r.Worth.Bids; len(b) != 3 || b[0].Tasks != 1 || b[1].From != 2 || b[2].To != 4 || b[2].Missed != 5 {
		t.Errorf("bids %+v", b)
	}
	if u := r.Worth.Users; len(u) != 2 || u[0].User != "ada" || u[0].Tasks != 9 || u[1].Refused != 8 {
		t.Errorf("users %+v", u)
	}
}

// A class without terms has the same arrivals as before there were any, and terms draw nothing of the others' chance.
func TestTermsLeaveArrivals(t *testing.T) {
	const with = "time: 5m\nclasses:\n  a: {mean: 1s}\nnodes:\n  - {count: 9}\nworkload:\n  - {class: a, rate: 4}\n"
	times := func(text string) (all []float64) {
		s, _, err := ParseScenario("s.yaml", []byte(text), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range s.Arrivals(1) {
			all = append(all, x.At.Seconds(), float64(x.Node))
		}
		return all
	}
	a, b := times(with), times(strings.Replace(with, "1s}", "1s, priority: [1, 4], deadline: {at: 9s, share: 0.5}}", 1))
	for k := range a {
		if len(a) != len(b) || a[k] != b[k] {
			t.Fatalf("arrivals %v and %v", len(a), len(b))
		}
	}
	if bad := parseErr(strings.Replace(with, "rate: 4", `rate: 4, user: "a\tb"`, 1)); !strings.Contains(bad, `user "a\tb": want`) {
		t.Errorf("a name that cannot be printed: %s", bad)
	}
	const above = "s.yaml:3:3: classes.a: priority 10.5: want at most 10, the max_bid of the nodes"
	if bad := parseErr(strings.Replace(with, "1s}", "1s, priority: [1, 10.5]}", 1)); !strings.Contains(bad, above) {
		t.Errorf("a bid that the nodes refuse: %s", bad)
	}
	if bad := parseErr(strings.Replace(with, "1s}", "1s, priority: 10}", 1)); bad != "" {
		t.Errorf("the highest bid: %s", bad)
	}
}

// Of three tasks of 20 s one is suspended for one of a minute that bids more; how long that takes is known of earlier
// ones. It goes on where another one has ended, if it writes checkpoints; else it waits where it is.
func TestMigrationsAreCounted(t *testing.T) {
	const text = `name: moves
start: 10s
warmup: 5s
time: 3m
policy: pe_p
order: bid
preempt: migrate:2
classes:
  long: {mean: 20s, size: deterministic, checkpoint: CHECKPOINT}
  urgent: {mean: 1m, size: deterministic, priority: 4}
nodes: [{name: n, count: 3, cpus: 1}]
workload:
  - {class: urgent, tasks: 3, once: 10s}
  - {class: long, tasks: 3, once: 80s}
  - {class: urgent, tasks: 1, once: 90s}
`
	for every, want := range map[string]int{"1s": 1, "0s": 0} {
		s, _, err := ParseScenario("s.yaml", []byte(strings.Replace(text, "CHECKPOINT", every, 1)), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(context.Background(), s, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Worth.Suspensions != 1 || r.Migrations != want || r.Failed+r.Lost > 0 {
			t.Errorf("checkpoints every %s: suspended %d times, gone on elsewhere %d times, %d failed: want 1, %d, 0", every,
				r.Worth.Suspensions, r.Migrations, r.Failed, want)
		}
	}
}
