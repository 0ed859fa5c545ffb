//go:build unix

package sim

import (
	"fmt"
	"testing"
	"time"

	"skep/grid"
	"skep/internal/cputime"
	"skep/sim/pages"
)

// BenchmarkToyBars measures the engine alone: its CPU an event with a toy member over the same toy in a plain loop on
// the same event queue, in turns within one run.
func BenchmarkToyBars(b *testing.B) {
	for range b.N {
		for _, nodes := range []int{10_000, 100_000} {
			barToy(nodes)
		}
	}
}

func barToy(nodes int) {
	const warm, rounds = 10 * time.Second, 5
	round := time.Duration(3e5/nodes) * time.Second // long enough for the clock of CPU time
	pages.Reserve(4096 * nodes)
	w, err := New(Config{Seed: 1, Nodes: nodes, Make: newToyGossip, Check: CheckNothing, NoDigest: true,
		Network: Network{Join: toyPeers / 2, Latency: Uniform(1, toyLatency), Size: toySize}})
	if err != nil {
		panic(err)
	}
	p := newPlainToy(nodes)
	if err := w.RunUntil(warm); err != nil {
		panic(err)
	}
	p.runUntil(grid.Time(warm))
	var world, plain time.Duration
	steps, events := w.Report().Steps, p.events
	for k := range time.Duration(rounds) {
		begin := cputime.Used()
		p.runUntil(grid.Time(warm + (k+1)*round))
		between := cputime.Used()
		if err := w.RunUntil(warm + (k+1)*round); err != nil {
			panic(err)
		}
		plain, world = plain+between-begin, world+cputime.Used()-between
	}
	ours := float64(world) / float64(w.Report().Steps-steps)
	theirs := float64(plain) / float64(p.events-events)
	fmt.Printf("toy, %d nodes: %.0f ns of CPU an event, %.0f in a plain loop; %.2f events a node and second\n",
		nodes, ours, theirs,
		float64(w.Report().Steps-steps)/float64(nodes)/(rounds*round).Seconds())
	report(fmt.Sprintf("CPU an event, toy, %d nodes, over a plain loop", nodes), ours/theirs, "", "≤ 3", ours/theirs <= 3)
}
