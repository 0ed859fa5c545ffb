package marketplace

import (
	"container/heap"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"skep/balance/market"
	"skep/grid"
	"skep/internal/cputime"
	"skep/sim/queueing"
)

// due is an event of the plain loop: an arrival, where server is -1, or the end of the task of a server.
type due struct {
	at     float64
	server int
}

type agenda []due

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].at < a[j].at }
func (a agenda) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)        { *a = append(*a, x.(due)) }
func (a *agenda) Pop() any {
	old := *a
	x := old[len(old)-1]
	*a = old[:len(old)-1]
	return x
}

type plainTask struct{ created, size, weight float64 }

// plain is a continuous double auction on equal servers, and nothing else: two events a task. It returns the tasks and
// the weighted completion time.
func plain(servers int, load, end float64, seed uint64) (tasks int, wct float64) {
	gaps, sizes := grid.NewRand(seed, streamGaps), grid.NewRand(seed, streamSizes)
	weights := grid.NewRand(seed, streamWeights)
	spec := Default().Tasks
	running := make([]plainTask, servers)
	busy := make([]bool, servers)
	var waiting []plainTask // the highest bid last
	events := agenda{{gaps.ExpFloat64() / (load * float64(servers)), -1}}
	start := func(now float64, j int, t plainTask) {
		running[j], busy[j] = t, true
		heap.Push(&events, due{now + t.size, j})
	}
	sum, done := 0.0, 0
	for {
		e := heap.Pop(&events).(due)
		if e.at > end {
			return tasks, sum / float64(done)
		}
		if e.server < 0 {
			tasks++
			t := plainTask{e.at, spec.smallest() * math.Pow(spec.Spread, sizes.Float64()), 2 * weights.Float64()}
			if j := slices.Index(busy, false); j >= 0 {
				start(e.at, j, t)
			} else {
				at, _ := slices.BinarySearchFunc(waiting, t.weight, func(x plainTask, w float64) int {
					if x.weight < w {
						return -1
					}
					return 1
				})
				waiting = slices.Insert(waiting, at, t)
			}
			heap.Push(&events, due{e.at + gaps.ExpFloat64()/(load*float64(servers)), -1})
			continue
		}
		t := running[e.server]
		sum, done, busy[e.server] = sum+t.weight*(e.at-t.created), done+1, false
		if k := len(waiting); k > 0 {
			start(e.at, e.server, waiting[k-1])
			waiting = waiting[:k-1]
		}
	}
}

// BenchmarkBars measures tasks a second of CPU time under cda, with 32 equal servers at a load of 95 %, over a plain
// loop for just that; the two take turns and agree on the result.
func BenchmarkBars(b *testing.B) {
	s := Default()
	s.Load = 0.95
	o := DefaultOptions()
	o.Measured, o.Warmup, o.Tail = 20_000, 0, 0
	p, err := market.Parse("cda")
	if err != nil {
		b.Fatal(err)
	}
	for range b.N {
		var ratios []float64
		for round := range uint64(7) {
			start := cputime.Used()
			tasks, want := plain(s.Servers.Count, s.Load, o.Measured, round)
			first := cputime.Used()
			o.Seed = round
			var stop atomic.Bool
			e := newEngine(s, p, &o, 0, &stop)
			e.run()
			second := cputime.Used()
			if got := e.books.weighted / float64(e.books.back); math.Abs(got-want) > 0.02*want || int(e.tasks.made) != tasks {
				b.Fatalf("seed %d: %d tasks with a weighted completion time of %.4f, the plain loop has %d with %.4f", round,
					e.tasks.made, got, tasks, want)
			}
			ratios = append(ratios, float64(first-start)/float64(second-first))
		}
		e := queueing.EstimateOf(ratios)
		verdict := "pass"
		if float64(e.Mean-e.Half) < 0.5 {
			verdict = "MISS"
		}
		fmt.Printf("bar: %-58s %10.3f ±%-5.3f bar %-9s %s\n", "market, cda on 32 servers at 95 %, over a plain loop", e.Mean,
			e.Half, "≥ 0.5", verdict)
	}
}
