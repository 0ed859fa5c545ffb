//go:build unix

package sim

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"skep/internal/cputime"
	"skep/sim/pages"
)

// BenchmarkLarge runs 30 s of large worlds in the memory of a machine of 24 GiB: views of 32, a task a node each 100 s,
// and neither checks nor a digest. It is not among the bars that `make bench` prints, since it needs the machine for
// itself:
//
//	go test ./sim -run '^$' -bench Large/1000000 -benchtime 1x -timeout 0
func BenchmarkLarge(b *testing.B) {
	for _, nodes := range []int{20_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(nodes), func(b *testing.B) {
			for range b.N {
				large(nodes)
			}
		})
	}
}

func large(nodes int) {
	const machine, headroom, virtual = 24 << 30, 3 << 30, 30 * time.Second
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(machine - headroom))
	pages.Reserve(Footprint * nodes)
	before, begin, start := memory(), time.Now(), cputime.Used()
	c := worked(nodes, virtual, 100*time.Second)
	c.Check, c.NoDigest = CheckNothing, true
	w, err := New(c)
	if err != nil {
		panic(err)
	}
	if err := w.RunUntil(virtual); err != nil {
		panic(err)
	}
	wall, spent, r := time.Since(begin), cputime.Used()-start, w.Report()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	live := memory() - before
	fmt.Printf("%d nodes: %.0f s of CPU, %.0f s by the clock for %.0f s of the grid, %d events, %d of %d tasks ended, "+
		"%.1f KiB a node\n", nodes, spent.Seconds(), wall.Seconds(), r.Virtual.Seconds(), r.Steps, r.Ended, r.Tasks,
		float64(live)/float64(nodes)/1024)
	report(fmt.Sprintf("memory from the system at %d nodes, view 32", nodes), float64(m.Sys)/(1<<30), "GiB", "≤ 24",
		m.Sys <= machine)
	runtime.KeepAlive(w)
}
