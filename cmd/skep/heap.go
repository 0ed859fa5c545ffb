package main

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

// heapTarget sets how far the heap grows until the next collection, after each collection until stop is called.
type heapTarget struct {
	live    []metrics.Sample
	stopped atomic.Bool
}

func newHeapTarget() *heapTarget {
	h := &heapTarget{live: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}}
	h.arm()
	return h
}

// arm has collected called after the next collection.
func (h *heapTarget) arm() {
	runtime.AddCleanup(new(*heapTarget), func(h *heapTarget) { h.collected() }, h)
}

func (h *heapTarget) collected() {
	if h.stopped.Load() {
		return
	}
	metrics.Read(h.live)
	debug.SetGCPercent(growFor(h.live[0].Value.Uint64()))
	h.arm()
}

func (h *heapTarget) stop() { h.stopped.Store(true) }

// growFor returns by how many percent a heap with so many bytes alive may grow.
func growFor(live uint64) int {
	if live > largeHeap {
		return largeHeapGrow
	}
	return smallHeapGrow
}
