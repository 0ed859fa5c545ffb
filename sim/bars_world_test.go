//go:build unix

package sim

import (
	"container/heap"
	"fmt"
	"runtime"
	"testing"
	"time"

	"skep/grid"
	"skep/internal/cputime"
	"skep/node"
	"skep/sim/pages"
)

// BenchmarkBars measures worlds against named references in the same run, in CPU time (user and
// system, getrusage: the collector's share is in it). Run it with
//
//	go test ./sim -run '^$' -bench Bars -benchtime 1x
func BenchmarkBars(b *testing.B) {
	for range b.N {
		barThousand()
		barGangs()
		small := measureWorld(1000)
		for _, nodes := range []int{10_000, 100_000} {
			f := measureWorld(nodes)
			at := fmt.Sprintf(" at %d nodes", nodes)
			report("CPU a task"+at+" over that at 1,000", f.task/small.task, "", "≤ 2.5", f.task/small.task <= 2.5)
			report("CPU an event"+at+" over a hold of container/heap", f.event/f.heap, "", "≤ 2", f.event/f.heap <= 2)
			report("live memory a node"+at+", view 32", f.memory/1024, "KiB", "≤ 14", f.memory <= 14<<10)
			report("mean completion time"+at+" over that at 1,000", f.completion/small.completion, "", "≤ 1.2",
				f.completion/small.completion <= 1.2)
			report("bytes a node and second"+at+" over those at 1,000", f.bytes/small.bytes, "", "≤ 1.2",
				f.bytes/small.bytes <= 1.2)
		}
	}
}

// figures are of a world under load: CPU in nanoseconds, memory in bytes a node, completion in seconds, bytes sent a
// node and second.
type figures struct{ task, event, heap, memory, completion, bytes float64 }

// loaded is a world of nodes at half of their capacity.
func loaded(nodes int, virtual time.Duration) Config { return worked(nodes, virtual, 2*time.Second) }

// worked is a world of nodes of one core with views of 32, each of which gets a task of 1 s every so often from second
// 8 on.
func worked(nodes int, virtual, each time.Duration) Config {
	r := grid.NewRand(1, 5)
	c := Config{Seed: 1, Nodes: nodes, Spread: 5 * time.Second,
		Network: Network{Latency: Uniform(time.Millisecond, 20*time.Millisecond)},
		Machine: Machine{Size: Exponential()},
		Node: func(_ int, c *node.Config) {
			c.Gossip.View = 32
			c.Capacity.CPU = grid.CPU
		}}
	classes := []*grid.JobSpec{spec("a", 1, grid.CPU), spec("b", 1, grid.CPU), spec("c", 1, grid.CPU)}
	every := float64(each) / float64(nodes)
	for at := float64(8 * time.Second); at < float64(virtual); at += every {
		c.Work = append(c.Work, Submission{At: time.Duration(at), Node: r.IntN(nodes), Spec: classes[r.IntN(3)]})
	}
	return c
}

// measureWorld runs a world and measures seconds 16 to 26: the nodes are connected, their views are full, and the load
// is steady.
func measureWorld(nodes int) figures {
	pages.Reserve(Footprint * nodes)
	before := memory()
	w, err := New(loaded(nodes, 26*time.Second))
	if err != nil {
		panic(err)
	}
	if err := w.RunUntil(16 * time.Second); err != nil {
		panic(err)
	}
	was, start := w.Report(), cputime.Used()
	if err := w.RunUntil(26 * time.Second); err != nil {
		panic(err)
	}
	spent, is := float64(cputime.Used()-start), w.Report()
	f := figures{task: spent / float64(is.Ended-was.Ended), event: spent / float64(is.Steps-was.Steps),
		memory: float64(memory()-before) / float64(nodes)}
	for k := range is.Traffic.Bytes {
		f.bytes += float64(is.Traffic.Bytes[k]-was.Traffic.Bytes[k]) / float64(nodes) / 10
	}
	ended := 0.0
	for n, s := range w.cfg.Work {
		if o := w.Outcome(n, 0); o.State == grid.Ended && o.Ended > 16*time.Second {
			f.completion, ended = f.completion+(o.Ended-s.At).Seconds(), ended+1
		}
	}
	f.completion /= ended
	f.heap = holdHeap(w.queue.Len())
	fmt.Printf("%d nodes: %.2f µs a task, %.2f µs an event, %.2f of the heap with %d pending, %.1f KiB a node, tasks "+
		"of %.3f s, %.0f bytes a node and second\n",
		nodes, f.task/1e3, f.event/1e3, f.heap/1e3, w.queue.Len(), f.memory/1024, f.completion, f.bytes)
	runtime.KeepAlive(w)
	return f
}

// pendingTimes is a container/heap of times.
type pendingTimes []*grid.Time

func (p pendingTimes) Len() int           { return len(p) }
func (p pendingTimes) Less(i, j int) bool { return *p[i] < *p[j] }
func (p pendingTimes) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *pendingTimes) Push(x any)        { *p = append(*p, x.(*grid.Time)) }
func (p *pendingTimes) Pop() any {
	old := *p
	t := old[len(old)-1]
	*p = old[:len(old)-1]
	return t
}

// holdHeap returns the nanoseconds of CPU of one pop and one push of a container/heap of pointers, with delays that are
// exponentially distributed.
func holdHeap(pending int) float64 {
	const holds = 1_000_000
	r := grid.NewRand(1, 1)
	delay := func() grid.Time { return grid.Time(r.ExpFloat64() * 1e6) }
	var delays [1 << 16]grid.Time // drawn beforehand: the draw is not measured
	for i := range delays {
		delays[i] = delay()
	}
	var p pendingTimes
	for range pending {
		t := delay()
		heap.Push(&p, &t)
	}
	hold := func(n int) time.Duration {
		begin := cputime.Used()
		for i := range n {
			t := *heap.Pop(&p).(*grid.Time) + delays[i%len(delays)]
			heap.Push(&p, &t)
		}
		return cputime.Used() - begin
	}
	hold(2 * pending)
	return float64(hold(holds)) / holds
}

// barThousand runs 1,000 nodes and 100,000 tasks to the end with default settings.
func barThousand() {
	c := loaded(1000, 8*time.Second+200*time.Second)
	c.Node = func(_ int, c *node.Config) { c.Capacity.CPU = grid.CPU }
	w, err := New(c)
	if err != nil {
		panic(err)
	}
	start := time.Now()
	r, err := w.Run()
	if err != nil {
		panic(err)
	}
	bytes := uint64(0)
	for _, n := range r.Traffic.Bytes {
		bytes += n
	}
	fmt.Printf("1,000 nodes, %d tasks, defaults: %.3g s for %.3g s of the grid, %d events, %.4g bytes a task\n",
		r.Tasks, time.Since(start).Seconds(), r.Virtual.Seconds(), r.Steps, float64(bytes)/float64(r.Ended))
}
