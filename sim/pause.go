package sim

import (
	"time"

	"skep/grid"
	"skep/sim/event"
)

// A paused node is a stopped process or a sleeping machine: its clock runs, events for it wait, and its effects come
// late. A stalled disk delays effects only: the node runs.

// pause stops a node for a time.
func (w *World) pause(i int32, d time.Duration) {
	h := &w.hosts[i]
	if !h.up || h.pausedUntil >= w.now.Add(d) {
		return
	}
	h.pausedUntil = w.now.Add(d)
	w.books.Hindsight().Paused(w.now, i, d)
	w.push(h.pausedUntil, kindResume, i, 0, 0)
}

// resume delivers the events that reached a node while it was paused.
func (w *World) resume(e *event.Event) {
	h := &w.hosts[e.Node]
	if !w.isCurrent(e) || h.pausedUntil > w.now {
		return
	}
	came := h.deferred
	h.deferred = nil
	for _, ev := range came {
		w.step(e.Node, ev)
	}
}

// setDiskFull tells a node whether its disk is nearly full.
func (w *World) setDiskFull(i int32, full bool) {
	h := &w.hosts[i]
	changed := h.full != full
	h.full = full
	if changed && h.up {
		w.ev = grid.Event{Kind: grid.EvDisk, Low: full}
		w.step(i, &w.ev)
	}
}

// reportTooLate tells a node which attempts its disk delayed beyond their start lease.
func (w *World) reportTooLate(e *event.Event) {
	if !w.isCurrent(e) {
		return
	}
	h := &w.hosts[e.Node]
	late := h.startedTooLate
	h.startedTooLate = nil
	for _, id := range late {
		w.ev = grid.Event{Kind: grid.EvLate, Attempt: id}
		w.step(e.Node, &w.ev)
	}
}
