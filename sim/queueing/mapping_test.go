package queueing

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"skep/balance"
	"skep/grid"
)

func isBatch(name string) bool {
	p, err := balance.Make(name, &balance.Config{}, grid.NewRand(0, 0))
	return err == nil && batches(p)
}

// table is a system with execution times as in the tables that balance works out by hand.
func table(m Mapping) *System {
	s := &System{Name: "table", Classes: []string{"a", "b", "c"}, Machines: []Line{{Name: "x"}, {Name: "y"}},
		Service: Distribution{Kind: Deterministic}, Alpha: []float64{0.01, 0.01, 0.01}, Mapping: &m}
	for _, e := range [][]float64{{4, 6}, {3, 8}, {5, 5.5}} {
		s.Mu = append(s.Mu, []float64{1 / e[0], 1 / e[1]})
	}
	return s
}

// queues is the classes in each machine's queue, the first of which runs.
func queues(e *engine) string {
	var out []string
	for j := range e.machines {
		q, text := &e.machines[j].queue, ""
		for k := range q.n {
			text += e.sys.Classes[q.buf[(q.head+k)&(len(q.buf)-1)].class]
		}
		out = append(out, text)
	}
	return strings.Join(out, "|")
}

// At an event the tasks that came are placed as the policy has it, each policy in its own way. What has begun by the
// next event stays, and what has not is mapped again, with what came.
func TestMappingEvent(t *testing.T) {
	for policy, want := range map[string][2]string{
		// b on x at 3, c on y at 5.5, a on x at 7; then x is ready in 3, and y in 5.5: the second b on x at 6 and a at
		// 10.
		"min_min": {"ba|c", "bba|c"},
		// c on x at 5, b on x at 8, as on y, a on y at 6; then x is ready in 5 and y in 6: b on x at 8, b on x at 11.
		"max_min": {"cb|a", "cbb|a"},
		// b loses 5, c 2.5 and a last; then the second b would lose 7.5 and a 4.5: b on x at 6, a on x at 10.
		"sufferage": {"ba|c", "bba|c"},
		// Every machine runs every class, so that no task goes before the others.
		"qos_min_min": {"ba|c", "bba|c"},
		// The largest on its fastest machine is c, then a: c on x at 5, a on y at 6, b on x at 8; then, of a and b, only
		// b has not begun.
		"dfpltf": {"cb|a", "cbb|a"},
	} {
		e := mustEngine(t, table(Mapping{Interval: 10}), policy)
		for class := range 3 {
			e.now = float64(class)
			e.batch.arrive(e, task{since: e.now, size: 1, class: int32(class)})
		}
		if got := queues(e); got != "|" || e.batch.next != 10 {
			t.Errorf("%s: queues %s before the event at %g, want none before that at 10", policy, got, e.batch.next)
		}
		e.now = 10
		e.batch.due(e)
		if got := queues(e); got != want[0] {
			t.Errorf("%s: queues %s, want %s", policy, got, want[0])
		}
		e.batch.arrive(e, task{since: 11, size: 1, class: 1})
		e.batch.due(e)
		if got := queues(e); got != want[1] {
			t.Errorf("%s: queues %s after the second event, want %s", policy, got, want[1])
		}
		if e.batch.next != 30 || e.books.all != 8 || len(e.batch.tasks) != 0 {
			t.Errorf("%s: next event at %g, %d messages, %d tasks left; want 30, 8 and none",
				policy, e.batch.next, e.books.all, len(e.batch.tasks))
		}
	}
}

// What has not begun goes elsewhere where that is better now.
func TestNotBegunIsMappedAgain(t *testing.T) {
	e := mustEngine(t, table(Mapping{Interval: 10}), "min_min")
	for range 3 {
		e.batch.arrive(e, task{size: 1, class: 1})
	}
	e.batch.due(e)
	if got := queues(e); got != "bb|b" {
		t.Fatalf("queues %s, want bb|b: 3, 6, and 8 on the other", got)
	}
	e.now = 8
	e.complete(1)
	e.batch.arrive(e, task{since: 8, size: 1, class: 0})
	e.batch.due(e)
	if got := queues(e); got != "bb|a" {
		t.Errorf("queues %s, want bb|a", got)
	}
	e.complete(1)
	e.machines[0].queue.first().class = 2 // what runs there takes 5 now, so that a waits for less where nothing runs
	e.push.counts[1], e.push.counts[2] = e.push.counts[1]-1, 1
	e.rates.mu[e.n+1], e.rates.weight[e.n+1], e.rates.alone[e.n+1] = 1, 1, 1
	e.news(1)
	e.batch.due(e)
	if got := queues(e); got != "c|b" {
		t.Errorf("queues %s, want c|b: the b that waited runs in 1 on the other machine", got)
	}
}

// A task that few machines can run goes first under qos_min_min, so that those are not taken by tasks that could go
// elsewhere: b, which runs on x alone, before a, which is shorter there.
func TestTasksOfFewMachinesGoFirst(t *testing.T) {
	for policy, want := range map[string]string{"min_min": "ab|", "qos_min_min": "b|a"} {
		s := table(Mapping{Interval: 10})
		s.Classes, s.Alpha, s.Mu = []string{"a", "b"}, []float64{0.01, 0.01}, [][]float64{{1, 0.25}, {0.25, 0}}
		e := mustEngine(t, s, policy)
		for class := range 2 {
			e.batch.arrive(e, task{size: 1, class: int32(class)})
		}
		e.batch.due(e)
		if got := queues(e); got != want {
			t.Errorf("%s: queues %s, want %s", policy, got, want)
		}
	}
}

// With ageing a task that has been mapped again and again goes before a shorter one that has just come: a, of 4 on x,
// counts a tenth after 9 of 10 time units, b of 3 all.
func TestAgeingRaisesThoseThatWait(t *testing.T) {
	for policy, want := range map[string]string{"min_min": "cba|", "min_min:10": "cab|"} {
		s := table(Mapping{Interval: 10})
		s.Mu = [][]float64{{1. / 4, 0}, {1. / 3, 0}, {1. / 5, 0}}
		e := mustEngine(t, s, policy)
		e.batch.arrive(e, task{size: 1, class: 2})
		e.batch.due(e)
		e.batch.arrive(e, task{since: 0.5, size: 1, class: 0})
		e.now = 9.5
		e.batch.arrive(e, task{since: 9.5, size: 1, class: 1})
		e.batch.due(e)
		if got := queues(e); got != want {
			t.Errorf("%s: queues %s, want %s", policy, got, want)
		}
	}
}

// An event where an arrival makes more than so many tasks that have not begun.
func TestMappingByCount(t *testing.T) {
	e := mustEngine(t, table(Mapping{Count: 2}), "min_min")
	for k, want := range []string{"|", "|", "bb|b", "bb|b"} {
		e.batch.arrive(e, task{since: float64(k), size: 1, class: 1})
		if got := queues(e); got != want {
			t.Errorf("after %d tasks: queues %s, want %s", k+1, got, want)
		}
	}
	e.batch.arrive(e, task{since: 5, size: 1, class: 1}) // one has not begun, two came
	if got := queues(e); got != "bbb|bb" && got != "bbbb|b" {
		t.Errorf("after 5 tasks: queues %s, want all placed", got)
	}
}

// The four rules are not the same, nor the same as one task at a time: shortest first is better for short tasks than
// longest first.
func TestBatchPoliciesDiffer(t *testing.T) {
	s := &System{Name: "two", Classes: []string{"short", "long"},
		Machines: []Line{{Name: "fast", Count: 3}, {Name: "slow", Count: 5}},
		Mu:       [][]float64{{9, 5}, {2, 1}}, Alpha: []float64{22, 4}, Mapping: &Mapping{Interval: 1}}
	policies := []string{"min_min", "max_min", "sufferage", "min_min:4", "mct"}
	r := mustRun(t, s, Options{Policies: policies, Time: 1000, Replications: 3})
	seen := map[string]string{}
	for _, x := range r.Results {
		digest := fmt.Sprint(x.W, x.Q, x.ByClass)
		if other, is := seen[digest]; is || !x.Stable {
			t.Errorf("%s gives the same as %q, or is not stable", x.Policy, other)
		}
		seen[digest] = x.Policy
	}
	if least, most := r.Results[0].ByClass[0].Mean, r.Results[1].ByClass[0].Mean; !(least < 0.9*most) {
		t.Errorf("short tasks take %.3f under min_min and %.3f under max_min: want a tenth less", least, most)
	}
}

// Under faults and changes tasks are neither lost nor doubled, and a seed gives the same again.
func TestMappingConserves(t *testing.T) {
	s := everything()
	s.Alpha, s.AlphaAt = []float64{12.5, 12, 12.5, 12}, nil
	for _, m := range []Mapping{{Interval: 0.5}, {Count: 5}} {
		s.Mapping = &m
		for _, policy := range []string{"min_min", "max_min", "sufferage", "xsufferage", "qos_min_min", "dfpltf",
			"sufferage:2", "utility"} {
			var ended []int64
			for range 2 {
				e, err := newEngine(s, policy, &Options{Time: 30, Seed: 1}, 0, new(atomic.Bool))
				if err != nil {
					t.Fatal(err)
				}
				e.run()
				inside := int64(len(e.batch.tasks))
				for j := range e.machines {
					inside += int64(e.machines[j].queue.n)
				}
				done, _ := e.books.completed()
				if done+inside != e.books.arrived || inside != int64(e.books.inside) || done == 0 {
					t.Errorf("%s, %+v: %d came, %d ended, %d are there and %d counted",
						policy, m, e.books.arrived, done, inside, e.books.inside)
				}
				ended = append(ended, done)
			}
			if ended[0] != ended[1] {
				t.Errorf("%s, %+v: %v tasks ended in two runs of a seed", policy, m, ended)
			}
		}
	}
}

// Without mapping events a batch policy is one for each task as it comes, which is mct: it is refused, and told what
// would be right.
func TestBatchPoliciesWantMapping(t *testing.T) {
	o := func(policy string) *Options { return &Options{Policies: []string{policy}, Time: 10, Replications: 1} }
	for _, policy := range Policies() {
		if !isBatch(policy) {
			continue
		}
		s := simple(0.5, 1, 2)
		want := "policy " + policy + ": places tasks together, at mapping events: want mapping"
		if err := o(policy).Check(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s without mapping: %v", policy, err)
		}
		s.Mapping = &Mapping{Count: 3}
		if err := o(policy).Check(s); err != nil {
			t.Errorf("%s with mapping: %v", policy, err)
		}
		s.Delay = 1
		if err := o(policy).Check(s); err == nil || !strings.Contains(err.Error(), "want delay 0") {
			t.Errorf("%s with a delay: %v", policy, err)
		}
		s.Delay, s.Decide = 0, ByMachines
		if err := o(policy).Check(s); err == nil || !strings.Contains(err.Error(), "decide: mapper") {
			t.Errorf("%s where machines decide: %v", policy, err)
		}
	}
	if !slices.Contains(Policies(), "sufferage") {
		t.Error("no batch policy is there")
	}
	const file = "classes: [a]\nmachines: [{count: 2}]\nmu: [[1]]\nalpha: [1]\nmapping: "
	for text, want := range map[string]string{"{interval: 5}": "", "{count: 4}": "", "{}": "want one of",
		"{interval: 5, count: 4}": "want one of", "{interval: -1}": "want a time", "{count: -1}": "want from 1",
		"{count: 1.5}": "whole number", "{every: 1}": "unknown key"} {
		_, err := Read("f", []byte(file+text+"\n"))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("mapping: %s: %v, want %q", text, err, want)
		}
	}
}
