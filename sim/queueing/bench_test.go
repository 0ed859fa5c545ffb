//go:build unix

package queueing

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"
)

// BenchmarkBars measures the simulator against a loop written by hand for just one system, in the same run:
//
//	go test ./sim/queueing -run '^$' -bench Bars -benchtime 1x
//
// Figures of one core are in CPU time, the least of several rounds in which those compared take turns.
func BenchmarkBars(b *testing.B) {
	for range b.N {
		t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "\nwhat\tbar\tmeasured\t\t")
		speed(t)
		replications(t)
		t.Flush()
	}
}

func verdict(ok bool) string {
	if ok {
		return "pass"
	}
	return "MISS"
}

// cpu is the CPU time of this process so far.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
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

func speed(t *tabwriter.Writer) {
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
			start := cpu()
			n := f()
			if ns := float64(cpu()-start) / float64(n); best[k] == 0 || ns < best[k] {
				best[k] = ns
			}
		}
	}
	bare, hand, mct, lpas := best[0], best[1], best[2], best[3]
	fmt.Fprintf(t, "loop by hand, over its bare heap operations and draws\t≤ 2\t%.2f\t%s\t(%.0f ns, %.0f ns a task)\n",
		hand/bare, verdict(hand/bare <= 2), hand, bare)
	fmt.Fprintf(t, "System 4.A, mct: tasks/s over the loop by hand\t≥ 0.5\t%.2f\t%s\t(%.2f million/s)\n", hand/mct, verdict(hand/mct >= 0.5), 1e3/mct)
	fmt.Fprintf(t, "System 4.A, lpas_dec: the same\t≥ 0.3\t%.2f\t%s\t(%.2f million/s)\n", hand/lpas, verdict(hand/lpas >= 0.3), 1e3/lpas)
}

// replications compares the wall time of eight runs on one core and on two, best of five.
func replications(t *tabwriter.Writer) {
	o := Options{Policies: []string{"lpas_dec"}, Time: 5000, Replications: 8, Seed: 1}
	var wall [2]time.Duration
	for range 5 {
		for k := range wall {
			o.Workers = k + 1
			start := time.Now()
			if _, err := Run(context.Background(), system4A(true), o); err != nil {
				panic(err)
			}
			if d := time.Since(start); wall[k] == 0 || d < wall[k] {
				wall[k] = d
			}
		}
	}
	x := wall[0].Seconds() / wall[1].Seconds()
	fmt.Fprintf(t, "8 replications: two workers over one\t≥ 1.8\t%.2f\t%s\t(%d cores)\n", x, verdict(x >= 1.8), runtime.GOMAXPROCS(0))
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
