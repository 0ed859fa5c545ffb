package reallocation

import (
	"math"
	"strings"
	"testing"
)

// staged makes an engine with storage, MB a cluster, and one MB a second to each.
func staged(t *testing.T, clusters []int, space []float64, name string, tasks ...task) *engine {
	t.Helper()
	s := small()
	s.Clusters, s.Data.Gigabyte, s.Workload.Kind = clusters, 1, "trace"
	s.Data.Storage = append(s.Data.Storage, space...)
	s.Data.Bandwidth = [2]float64{8, 8}
	s.Data.Size = [2]float64{0.01, 0.01}
	e, err := newEngine(s, strategy(t, name), 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for k := range tasks {
		x := &tasks[k]
		x.left, x.on, x.started, x.ended, x.fewest, x.input.at = x.length, -1, -1, -1, math.MaxInt, nowhere
		for _, o := range x.options {
			x.fewest = min(x.fewest, o.procs)
		}
	}
	e.tasks = tasks
	return e
}

// [1, section 6.2]: two tasks on clusters of 64 processors and 10 GB, and of 16 and 15 GB. With storage the first takes
// its third option and the second its first: 175, with the 25 of the objective, 180 with the 30 of the list. Without,
// both take the second: 185.
func TestWorkedExample(t *testing.T) {
	for _, c := range []struct {
		third, want float64
		space       []float64
		first, last int
	}{
		{25, 175, []float64{10, 15}, 2, 0},
		{30, 180, []float64{10, 15}, 2, 0},
		{25, 185, []float64{1000, 1000}, 1, 1},
		{30, 185, []float64{1000, 1000}, 1, 1},
	} {
		e := staged(t, []int{64, 16}, c.space, "um_p1:1",
			task{length: 1e6, input: input{size: 5}, options: []option{{0, 64, 120}, {0, 32, 110}, {1, 16, c.third}}},
			task{length: 1e6, input: input{size: 10}, options: []option{{0, 64, 150}, {0, 32, 75}}})
		e.system.Solver.Rounds = 100
		e.arrive()
		e.tick()
		a, b := &e.tasks[0], &e.tasks[1]
		if a.on != c.first || b.on != c.last || a.options[a.on].value+b.options[b.on].value != c.want {
			t.Errorf("third option %v, space %v: options %d and %d, want %d and %d, %v together", c.third, c.space, a.on, b.on,
				c.first, c.last, c.want)
		}
	}
}

// A task holds its processors while its inputs are copied, and one whose inputs have no space waits.
func TestInputsTakeTimeAndSpace(t *testing.T) {
	a, b := one(0, 4*100, 2), one(0, 100, 1)
	a.input.size, b.input.size = 60, 50
	e := staged(t, []int{4}, []float64{100}, "fcfs", a, b)
	e.run(never)
	if e.tasks[0].ended != 260 || e.tasks[1].started != 260 || e.tasks[1].ended != 260+150 || e.storage.spent != 110 {
		t.Errorf("ends %v and %v, the second from %v, %v s of transfers: want 260, 410, 260 and 110", e.tasks[0].ended,
			e.tasks[1].ended, e.tasks[1].started, e.storage.spent)
	}
	if e.storage.space[0] != 100 {
		t.Errorf("%v MB are free at the end, want 100", e.storage.space[0])
	}
}

// data_fcfs takes the option by which a task ends soonest, fcfs the first.
func TestDataFCFSGoesWhereTheInputsComeSoonest(t *testing.T) {
	for name, want := range map[string]int{"fcfs": 0, "data_fcfs": 1} {
		x := task{length: 400, input: input{size: 60}, options: []option{{0, 2, 1}, {1, 2, 1}}}
		e := staged(t, []int{2, 2}, []float64{100, 100}, name, x)
		e.storage.rate[1] = 6
		e.arrive()
		e.between()
		if e.tasks[0].on != want {
			t.Errorf("%s: option %d, want %d", name, e.tasks[0].on, want)
		}
	}
}

// A task that stays on its cluster copies nothing again; one that was suspended for another copies all of it again.
func TestWhoLeavesACopyPaysAgain(t *testing.T) {
	for _, c := range []struct {
		worth      float64
		counted    string
		spent, end float64
	}{
		{1, "lasted", 5000 + 10, 5000 + 2000},
		{1000, "lasted", 3600 + 10 + 5000, 7200 + 5000 + 2000}, // broken off at the first tick, again from the second on
		{1000, "whole", 5000 + 10 + 5000, 7200 + 5000 + 2000},
	} {
		a, b := one(0, 4*2000, 4), one(100, 4*3000, 4)
		a.input.size, b.input.size, b.options[0].value = 5000, 10, c.worth
		e := staged(t, []int{4}, []float64{6000}, "um_p1:1", a, b)
		e.system.Data.Counted = c.counted
		e.run(never)
		if got := &e.tasks[0]; got.ended != c.end || math.Abs(e.storage.spent-c.spent) > 1e-6 {
			t.Errorf("value %v, %s: the first ended at %v after %v s of transfers: want %v, %v", c.worth, c.counted, got.ended,
				e.storage.spent, c.end, c.spent)
		}
	}
}

// What is known of an option: the transfer as if nothing was there, unless inputs stick.
func TestTransfersInUtility(t *testing.T) {
	x := task{length: 400, left: 400, input: input{size: 60, at: 1, missing: 20}, options: []option{{0, 2, 1}, {1, 2, 1}}}
	for _, c := range []struct {
		sticky              bool
		remaining           string
		transfer, remainder [2]float64
	}{
		{false, "computation", [2]float64{60, 60}, [2]float64{200, 200}},
		{true, "computation", [2]float64{60, 20}, [2]float64{200, 200}},
		{false, "whole", [2]float64{60, 60}, [2]float64{260, 220}},
	} {
		e := staged(t, []int{2, 2}, []float64{100, 100}, "data:1")
		e.system.Data.Sticky, e.system.Data.Remaining = c.sticky, c.remaining
		for k := range x.options {
			if f := e.know(&x, &x.options[k]); f.Transfer != c.transfer[k] || f.Remaining != c.remainder[k] {
				t.Errorf("sticky %v, %s, option %d: %+v, want %v and %v", c.sticky, c.remaining, k, *f, c.transfer[k],
					c.remainder[k])
			}
		}
	}
}

// multi is the grid of [1, section 6.5] with few tasks.
func multi(t *testing.T, more string) *System {
	t.Helper()
	s, err := Read("x.yaml", []byte("clusters: [16, 16, 32, 128]\nworkload: {kind: trace, tasks: 60, "+
		"trace: {interval: 255.2}}\ndata: {storage: [100, 300, 400, 1024]"+more+"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// No strategy uses more space than there is (enter panics otherwise), all work is done, and each input is copied once
// at least. [1, section 6.5.2]: from a factor of 64 on the smallest inputs of 16 tasks do not fit on the first cluster.
func TestStorageIsConserved(t *testing.T) {
	s := multi(t, "")
	if least := s.Data.Size[0]; 16*64*least > 100*s.Data.Gigabyte || 16*65*least <= 100*s.Data.Gigabyte {
		t.Error("want 16 of the smallest inputs to fit on the first cluster up to a factor of 64")
	}
	for _, name := range []string{"fcfs", "data_fcfs", "min_min", "data:255.2s", "times:255.2s", "data_money:255.2s",
		"balanced:255.2s", "data+bf:255.2s"} {
		for _, factor := range []float64{1, 100} {
			e, err := newEngine(s, strategy(t, name), factor, 3)
			if err != nil || !e.run(never) {
				t.Fatal(name, err)
			}
			once := 0.0
			for k := range e.tasks {
				x := &e.tasks[k]
				fastest := math.Inf(1)
				for o := range x.options {
					fastest = min(fastest, e.storage.takes(x.options[o].cluster, x.input.size))
				}
				if once += fastest; x.ended-x.started < fastest {
					t.Fatalf("%s, factor %v: task %d ended before its inputs were there", name, factor, k)
				}
			}
			if e.storage.spent < once*(1-1e-9) {
				t.Errorf("%s, factor %v: %v s of transfers, want %v at least", name, factor, e.storage.spent, once)
			}
			for k, mb := range e.storage.space {
				if want := s.Data.Storage[k] * 1024; math.Abs(mb-want) > 1e-3 {
					t.Errorf("%s, factor %v: %v MB are free on %d at the end, want %v", name, factor, mb, k, want)
				}
			}
		}
	}
}

func TestDataErrors(t *testing.T) {
	for text, want := range map[string]string{
		"data: {storage: [1]}": "data.storage: 1 clusters: want one number for each of 4",
		"workload: {kind: trace}\ndata: {storage: [1, 1, 1, 0]}":                 "data.storage: 0: want GB above 0",
		"workload: {kind: trace}\ndata: {storage: [1, 1, 1, 1], counted: twice}": `data.counted "twice": want lasted or whole`,
		"workload: {kind: trace}\ndata: {storage: [1, 1, 1, 1], size: [9, 1]}":   "data.size [9 1]: want [least, most]",
		"workload: {kind: random}\ndata: {storage: [1, 1, 1, 1]}":                "data: want workload.kind trace",
	} {
		if _, err := Read("x.yaml", []byte(text+"\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	s := multi(t, "")
	for name, factor := range map[string]float64{"easy": 1, "gang:6": 1, "fcfs": 2000} {
		if _, err := newEngine(s, strategy(t, name), factor, 1); err == nil {
			t.Errorf("%s has run with a factor of %v", name, factor)
		}
	}
	if got := strategy(t, "data:255.2s"); got.Tau != 255.2 || got.Utility != "data" {
		t.Errorf("%+v: want data every 255.2 s", got)
	}
}
