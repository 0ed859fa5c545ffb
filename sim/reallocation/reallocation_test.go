package reallocation

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"
)

func never() bool { return false }

func strategy(t *testing.T, name string) Strategy {
	t.Helper()
	st, err := ParseStrategy(name)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// small is a grid with few tasks.
func small() *System {
	s := Default()
	s.Workload.Tasks = 150
	return s
}

var all = []string{"fcfs", "easy", "min_min", "gang:6", "um_p1:6", "um_p2:6", "um_p3:6", "um_p4:6", "um_p5:6",
	"um_p1+bf:6", "um_p5+bf:6", "um_p1:30"}

// by makes an engine whose tasks are given: submission, work and options.
func by(t *testing.T, clusters []int, name string, tasks ...task) *engine {
	t.Helper()
	s := small()
	s.Clusters = clusters
	e, err := newEngine(s, strategy(t, name), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	for k := range tasks {
		x := &tasks[k]
		x.left, x.on, x.started, x.ended, x.fewest = x.length, -1, -1, -1, math.MaxInt
		for _, o := range x.options {
			x.fewest = min(x.fewest, o.procs)
		}
	}
	e.tasks = tasks
	return e
}

func one(submit, length float64, procs ...int) task {
	t := task{submit: submit, length: length, value: 10}
	for _, p := range procs {
		t.options = append(t.options, option{0, p, 10 * float64(p)})
	}
	return t
}

// The whole work is done, on no more processors than there are (start panics otherwise), and nothing is over before it
// can be.
func TestWorkIsConserved(t *testing.T) {
	for _, kind := range []string{"random", "trace"} {
		for _, name := range all {
			s := small()
			s.Workload.Kind, s.Uneven = kind, true
			e, err := newEngine(s, strategy(t, name), 0.3, 7)
			if err != nil || !e.run(never) {
				t.Fatal(name, err)
			}
			for k := range e.tasks {
				x := &e.tasks[k]
				fastest := math.Inf(1)
				for o := range x.options {
					opt := &x.options[o]
					fastest = min(fastest, x.length/(float64(opt.procs)*e.performance[opt.cluster]))
				}
				if x.left != 0 || x.started < x.submit || x.ended-x.started < fastest*(1-1e-9) {
					t.Fatalf("%s, %s: task %d, submitted at %v, ran from %v to %v, with %v left: want %v at least", kind, name, k,
						x.submit, x.started, x.ended, x.left, fastest)
				}
			}
			if want := len(s.Clusters); len(e.free) != want || e.idle != 60 {
				t.Errorf("%s: %d processors are free at the end, want 60", name, e.idle)
			}
		}
	}
}

// Without backfilling nothing starts between ticks; with it nothing that fits waits.
func TestTicks(t *testing.T) {
	e := by(t, []int{4}, "um_p1:1", one(0, 4*1800, 4), one(0, 4*600, 4), one(100, 60, 1))
	e.run(never)
	if e.tasks[0].started != 0 || e.tasks[1].started != 3600 || e.tasks[2].started != 7200 {
		t.Errorf("starts %v %v %v: want ticks of an hour, 0, 3600 and 7200", e.tasks[0].started, e.tasks[1].started,
			e.tasks[2].started)
	}
	e = by(t, []int{4}, "um_p1+bf:1", one(0, 4*1800, 4), one(0, 4*600, 4), one(100, 60, 1))
	e.run(never)
	if e.tasks[1].started != 1800 || e.tasks[2].started != 2400 {
		t.Errorf("starts %v %v with backfilling: want 1800 and 2400", e.tasks[1].started, e.tasks[2].started)
	}
}

// A task that is suspended keeps its progress, and may go on with other processors.
func TestSuspendedWorkIsKept(t *testing.T) {
	worth := one(1000, 4*7200, 4)
	worth.options[0].value = 1000
	e := by(t, []int{4}, "um_p1:1", one(0, 4*5400, 4), worth)
	e.run(never)
	a, b := &e.tasks[0], &e.tasks[1]
	if b.started != 3600 || b.ended != 10_800 || a.ended != 10_800+1800 {
		t.Errorf("the second ran from %v to %v, the first ended at %v: want 3600, 10800 and 12600", b.started, b.ended,
			a.ended)
	}
}

// What starts behind the head of the line never delays it: it would end before, or leaves the head its processors.
func TestEasyKeepsItsReservation(t *testing.T) {
	tasks := func() []task {
		return []task{one(0, 3*1000, 3), one(1, 4*100, 4), one(2, 2000, 1), one(3, 500, 1)}
	}
	e := by(t, []int{4}, "easy", tasks()...)
	e.run(never)
	if e.tasks[1].started != 1000 || e.tasks[3].started != 3 || e.tasks[2].started < 1000 {
		t.Errorf("starts %v %v %v: want the head at 1000, the short one at 3, the long one behind", e.tasks[1].started,
			e.tasks[3].started, e.tasks[2].started)
	}
	e = by(t, []int{4}, "fcfs", tasks()...)
	e.run(never)
	if e.tasks[3].started < e.tasks[2].started || e.tasks[2].started < e.tasks[1].started {
		t.Error("fcfs: want starts in the order of arrival")
	}
}

func TestMinMinTakesTheSoonest(t *testing.T) {
	e := by(t, []int{2}, "min_min", one(0, 900, 1), one(0, 400, 1, 2), one(0, 300, 1))
	e.run(never)
	if e.tasks[1].started != 0 || e.tasks[1].ended != 200 || e.tasks[2].started != 200 {
		t.Errorf("want first the second task on two processors: it ran from %v to %v", e.tasks[1].started, e.tasks[1].ended)
	}
}

// Gangs take turns: of three tasks that fill the grid, each has run after three ticks.
func TestGangsTakeTurns(t *testing.T) {
	e := by(t, []int{2}, "gang:1", one(0, 2*9000, 2), one(0, 2*9000, 2), one(0, 2*9000, 2))
	e.run(never)
	for k, want := range []float64{0, 3600, 7200} {
		if e.tasks[k].started != want {
			t.Errorf("task %d began at %v: want %v", k, e.tasks[k].started, want)
		}
	}
}

// An uneven grid has the performance of an even one [1, equation 4.13].
func TestUnevenGridIsAsFast(t *testing.T) {
	s := Default()
	s.Uneven = true
	for seed := range uint64(20) {
		sum := 0.0
		for k, p := range s.performances(seed) {
			if sum += p * float64(s.Clusters[k]); p < 0.25 || p > 3 {
				t.Errorf("performance %v", p)
			}
		}
		if math.Abs(sum-60) > 1e-9 {
			t.Errorf("seed %d: %v processors' worth, want 60", seed, sum)
		}
	}
}

// The demand of a random workload is what [1, Table 4.6] says: 7.9e8 CPU-seconds.
func TestDemand(t *testing.T) {
	s, sum := Default(), 0.0
	for seed := range uint64(10) {
		tasks, err := s.draw(0, seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range tasks {
			sum += x.length / 1e9
			if got, want := x.options[len(x.options)-1].value, x.value*math.Pow(float64(x.fewest)/
				float64(x.options[0].procs), 1.1); math.Abs(got-want) > 1e-9 || x.options[0].value != x.value {
				t.Fatalf("values %+v of %v", x.options, x.value)
			}
		}
	}
	if sum < 7.6 || sum > 8.1 {
		t.Errorf("demand %.2fe8 s: want 7.9e8 s", sum)
	}
}

// The same seed gives the same figures, however many experiments run at once; strategies do not change each other's.
func TestRepeatable(t *testing.T) {
	var strategies []Strategy
	for _, name := range all {
		strategies = append(strategies, strategy(t, name))
	}
	a, err := small().Run(context.Background(), strategies, 0, 3, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k := range strategies {
		b, err := small().Run(context.Background(), strategies[k:k+1], 0, 4, 1, nil)
		if err != nil || !reflect.DeepEqual(a[1][k], b[0][0]) {
			t.Errorf("%s: %+v, alone %+v, %v", strategies[k].Name, a[1][k], b[0][0], err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if x, err := small().Run(ctx, strategies, 0, 3, 3, nil); x != nil || err != nil {
		t.Errorf("interrupted: %v, %v", x, err)
	}
}

// Who offers more waits less under the policies that look at value, and nowhere else [1, Tables 4.2 and 4.5].
func TestValueShortensDelay(t *testing.T) {
	s := Default()
	s.Workload.Tasks = 500
	f, err := s.experiment([]Strategy{strategy(t, "um_p1:6"), strategy(t, "um_p4:6"), strategy(t, "easy")}, 0, 1, never)
	if err != nil {
		t.Fatal(err)
	}
	if f[0].Delay > -0.2 || f[0].Speedup < 0.02 || math.Abs(f[1].Delay) > 0.15 || math.Abs(f[2].Speedup) > 0.15 {
		t.Errorf("delay of value: %.3f under policy 1, %.3f under 4; speedup %.3f under 1, %.3f under easy", f[0].Delay,
			f[1].Delay, f[0].Speedup, f[2].Speedup)
	}
	s.Solver.Beta = 0
	if f, err = s.experiment([]Strategy{strategy(t, "um_p1:6")}, 0, 1, never); err != nil || f[0].Delay > -0.9 {
		t.Errorf("delay %.3f where utility alone counts, want -0.9 or less", f[0].Delay)
	}
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"clusters: []":                      "clusters: there are 0: want 1 to 100",
		"workload: {kind: swf}":             `workload.kind "swf": want random or trace`,
		"solver: {beta: 2}":                 "solver.beta 2: want from 0 to 1",
		"backfill: all":                     `backfill "all": want any or easy`,
		"colour: red":                       "colour",
		"workload: {kind: trace, tasks: 1}": "workload.tasks 1: want from 2 to 100,000",
	} {
		if _, err := Read("x.yaml", []byte(text+"\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"fcfs:6": "fcfs has no ticks", "um_p1": "as in um_p1:6", "gang:0": "a number above 0", "best": "is not known",
		"credit:2:6": "want a number from 0 to 1",
	} {
		if _, err := ParseStrategy(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if got, want := strategy(t, "credit:0.5+bf:6"), (Strategy{"credit", "credit:0.5", true, 6 * 3600}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	s := small()
	wrong := []Strategy{{Name: "um_p9:6", Utility: "um_p9", Tau: 1}}
	if _, err := s.Run(context.Background(), wrong, 0, 1, 1, nil); err == nil {
		t.Error("a strategy without a function has run")
	}
	if _, err := s.Run(context.Background(), nil, -1, 1, 1, nil); err == nil {
		t.Error("a pace below 0 has run")
	}
}
