//go:build unix

package queueing

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"skep/internal/cputime"
)

// BenchmarkBars measures the simulator against a loop written by hand for just one system, in the same run:
//
//	go test ./sim/queueing -run '^$' -bench Bars -benchtime 1x
//
// Figures of one core are in CPU time, the least of several rounds in which those compared take turns.
func BenchmarkBars(b *testing.B) {
	for range b.N {
		speed()
		replications()
	}
}

// bar prints a figure as all of the project are.
func bar(what string, got float64, want string, pass bool, note string, args ...any) {
	verdict := "pass"
	if !pass {
		verdict = "MISS"
	}
	fmt.Printf("bar: %-58s %10.3f %-6s bar %-9s %s  %s\n", what, got, "", want, verdict, fmt.Sprintf(note, args...))
}

// simulated runs one replication of a policy and returns the tasks.
func simulated(policy string, units float64) int {
	var stop atomic.Bool
	e, err := newEngine(system4A(false), policy, &Options{Time: units, Seed: 1}, 0, &stop)
	if err != nil {
		panic(err)
	}
	e.run()
	return int(e.books.arrived)
}

func speed() {
	const units = 10_000.0
	tasks := int(units * 49)
	subjects := []func() int{
		func() int { newByHand(1).bare(tasks); return tasks },
		func() int { newByHand(1).run(tasks); return tasks },
		func() int { return simulated("mct", units) },
		func() int { return simulated("lpas_dec", units) },
	}
	best := make([]float64, len(subjects)) // ns for each task
	for range 7 {
		for k, f := range subjects {
			runtime.GC()
			start := cputime.Used()
			n := f()
			if ns := float64(cputime.Used()-start) / float64(n); best[k] == 0 || ns < best[k] {
				best[k] = ns
			}
		}
	}
	bare, hand, mct, lpas := best[0], best[1], best[2], best[3]
	bar("loop by hand over its bare heap operations and draws", hand/bare, "<= 2", hand/bare <= 2,
		"(%.0f and %.0f ns a task)", hand, bare)
	bar("System 4.A, mct: tasks/s over those of the loop by hand", hand/mct, ">= 0.5", hand/mct >= 0.5, "(%.2f million/s)",
		1e3/mct)
	bar("System 4.A, lpas_dec: tasks/s over those of that loop", hand/lpas, ">= 0.3", hand/lpas >= 0.3, "(%.2f million/s)",
		1e3/lpas)
}

// replications compares the wall time of eight runs by one worker and by two. Beside it, in the same round, two
// loops that share nothing tell what there is to be had of the machine: other programs take from both. Rounds in
// which they did not get 1.95 to 2.1 are noisy and do not count if others do; there are rounds until five were quiet,
// at most 15. The least time of each counts.
func replications() {
	o := Options{Policies: []string{"lpas_dec"}, Time: 5000, Replications: 8, Seed: 1}
	var quiet, noisy, loops [2]time.Duration
	rounds, calm := 0, 0
	for ; rounds < 15 && calm < 5; rounds++ {
		var wall, free [2]time.Duration
		for k := range wall {
			free[k] = timed(func() { apart(k + 1) })
			o.Workers = k + 1
			wall[k] = timed(func() {
				if _, err := Run(context.Background(), system4A(true), o); err != nil {
					panic(err)
				}
			})
		}
		if got := free[0].Seconds() / free[1].Seconds(); got < 1.95 || got > 2.1 {
			least(&noisy, &wall)
		} else {
			calm++
			least(&quiet, &wall)
		}
		least(&loops, &free)
	}
	if calm == 0 {
		quiet = noisy
	}
	x := quiet[0].Seconds() / quiet[1].Seconds()
	bar("8 replications: two workers over one, wall time", x, ">= 1.8", x >= 1.8,
		"(two loops that share nothing: %.2f; %d of %d rounds were quiet)",
		loops[0].Seconds()/loops[1].Seconds(), calm, rounds)
}

// apart runs eight loops that share nothing by that many workers.
func apart(workers int) {
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range 8 / workers {
				newByHand(1).bare(500_000)
			}
		})
	}
	wg.Wait()
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// least keeps the lesser of each.
func least(all, round *[2]time.Duration) {
	for k := range all {
		if all[k] == 0 || round[k] < all[k] {
			all[k] = round[k]
		}
	}
}

func BenchmarkPolicies(b *testing.B) {
	for _, policy := range []string{"mct", "lpas_dec", "lpas", "kpb:3", "lp_static", "gcmu", "lpas_dg"} {
		b.Run(policy, func(b *testing.B) {
			n := 0
			for b.Loop() {
				n += simulated(policy, 2000)
			}
			b.ReportMetric(float64(b.Elapsed())/float64(n), "ns/task")
		})
	}
}
