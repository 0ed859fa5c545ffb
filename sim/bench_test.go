package sim

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
)

// benchGrid is a world of many real nodes, each with a view of 32, at a tenth of a task a second and node.
func benchGrid(nodes int, virtual time.Duration) Config {
	r := grid.NewRand(1, 5)
	c := Config{Seed: 1, Nodes: nodes, Network: Network{Latency: Uniform(time.Millisecond, 20*time.Millisecond)},
		Machine: Machine{Size: Exponential()},
		Node: func(_ int, c *node.Config) {
			c.Gossip.View = 32
			c.Capacity.CPU = grid.CPU
		}}
	classes := []*grid.JobSpec{spec("a", 1, grid.CPU), spec("b", 1, grid.CPU), spec("c", 1, grid.CPU)}
	every := time.Duration(float64(10*time.Second) / float64(nodes))
	for at := 5 * time.Second; at < virtual; at += every {
		c.Work = append(c.Work, Submission{At: at, Node: r.IntN(nodes), Spec: classes[r.IntN(3)]})
	}
	return c
}

// BenchmarkWorld runs the real node under load and reports the cost of a step and of a task, the steps of a
// task, and the live memory of a node.
func BenchmarkWorld(b *testing.B) {
	for _, nodes := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprint(nodes), func(b *testing.B) {
			for b.Loop() {
				before := memory()
				w, err := New(benchGrid(nodes, 30*time.Second))
				if err != nil {
					b.Fatal(err)
				}
				start := time.Now()
				if err := w.RunUntil(30 * time.Second); err != nil {
					b.Fatal(err)
				}
				spent, r := time.Since(start), w.Report()
				b.ReportMetric(float64(spent)/float64(r.Steps), "ns/step")
				b.ReportMetric(float64(spent)/float64(r.Ended), "ns/task")
				b.ReportMetric(float64(r.Steps)/float64(r.Ended), "steps/task")
				sent := r.Traffic.Hops // an announcement counts once a hop
				for _, n := range r.Traffic.Sent {
					sent += n
				}
				b.ReportMetric(float64(sent)/float64(max(r.Ended, 1)), "messages/task")
				b.ReportMetric(float64(memory()-before)/float64(nodes), "B/node")
				runtime.KeepAlive(w)
			}
		})
	}
}

func memory() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
