package sim

import (
	"time"

	"skep/grid"
)

// A node that is paused is a process that was stopped, or a machine that slept: its clock goes on, what reaches it waits,
// and what it was about to let out comes late. A disk that stalls holds back the effects alone: the node goes on.

// pause keeps a node from doing anything for a time.
func (w *World) pause(i int32, d time.Duration) {
	h := &w.hosts[i]
	if !h.up || h.pausedUntil >= w.now.Add(d) {
		return
	}
	h.pausedUntil = w.now.Add(d)
	w.push(h.pausedUntil, kindResume, i, 0, 0)
}

// resume gives a node all that has reached it while it was paused.
func (w *World) resume(e *Event) {
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

// setDiskFull says whether a node's disk is nearly full.
func (w *World) setDiskFull(i int32, full bool) {
	h := &w.hosts[i]
	changed := h.full != full
	h.full = full
	if changed && h.up {
		w.ev = grid.Event{Kind: grid.EvDisk, Low: full}
		w.step(i, &w.ev)
	}
}

// reportTooLate tells a node what it was to start, and that came out of its disk too late.
func (w *World) reportTooLate(e *Event) {
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
