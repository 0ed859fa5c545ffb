package collector

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// With the collector's default target a heap doubles before it is collected. That is cheap while it is small; what
// members make a node keep can take 100 MB, and the node should not take twice as much.
const (
	largeHeap     = 48 << 20 // bytes alive
	largeHeapGrow = 40       // percent by which a large heap grows until it is collected; a small one by smallHeapGrow
	smallHeapGrow = 100
)

// Target sets how far the heap grows until the next collection, after each collection until Stop is called.
type Target struct {
	live    []metrics.Sample
	stopped atomic.Bool
}

// New sets targets from the next collection on.
func New() *Target {
	h := &Target{live: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}}
	h.arm()
	return h
}

// arm has collected called after the next collection.
func (h *Target) arm() {
	runtime.AddCleanup(new(*Target), func(h *Target) { h.collected() }, h)
}

func (h *Target) collected() {
	if h.stopped.Load() {
		return
	}
	metrics.Read(h.live)
	debug.SetGCPercent(growFor(h.live[0].Value.Uint64()))
	h.arm()
}

// Stop leaves the target as it is.
func (h *Target) Stop() { h.stopped.Store(true) }

// growFor returns by how many percent a heap with so many bytes alive may grow.
func growFor(live uint64) int {
	if live > largeHeap {
		return largeHeapGrow
	}
	return smallHeapGrow
}
