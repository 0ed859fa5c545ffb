package sim

import (
	"time"

	"skep/grid"
)

// setShare has others leave a share of a node's cores from now on; its driver measures that at once.
func (w *World) setShare(i int32, left float64) {
	w.hosts[i].coreShare = left
	w.updateSpeed(i)
	w.reportAvailability(i)
}

// reportAvailability tells a node what its driver measures of how much of it is there, if that is not all of it.
func (w *World) reportAvailability(i int32) {
	h := &w.hosts[i]
	_, up := w.cfg.Available(int(i))
	if !h.up || h.coreShare == 1 && up == 1 && !h.reportsAvailability {
		return
	}
	h.reportsAvailability = true
	w.ev = grid.Event{Kind: grid.EvAvailable, Left: h.coreShare, Up: up}
	w.step(i, &w.ev)
}

// updateSpeed has what runs on a node get on at the speed that is due to it now: tasks share what others leave, and while they
// want less than that they lose nothing.
func (w *World) updateSpeed(i int32) {
	h := &w.hosts[i]
	speed := 1.0
	if have := h.coreShare * float64(h.cap.CPU); float64(h.used.CPU) > have {
		speed = have / float64(h.used.CPU)
	}
	if speed == h.speed {
		return
	}
	for name := h.runs; name >= 0; name = w.runs[name].nextOnNode {
		if r := &w.runs[name]; r.executing {
			r.remaining -= time.Duration(float64(w.now.Sub(r.remainingAt)) * h.speed)
			r.remainingAt = w.now
		}
	}
	h.speed = speed
	for name := h.runs; name >= 0; name = w.runs[name].nextOnNode {
		if r := &w.runs[name]; r.executing && !r.stopping { // who was told to end does at the time that was set
			r.gen++ // the end that was planned is none
			w.scheduleEnd(i, name)
		}
	}
}

// scheduleEnd plans the end of a run: at the speed of now, or when its time is over.
func (w *World) scheduleEnd(i int32, name int32) {
	r := &w.runs[name]
	left := max(r.remaining, 0)
	if speed := w.hosts[i].speed; speed < 1 {
		left = time.Duration(float64(left) / speed)
	}
	at, over := w.now.Add(left), r.began.Add(r.spec.Timeout)
	r.timesOut = r.spec.Timeout > 0 && (r.ending.Hangs || over < at)
	switch {
	case r.timesOut:
		at = over
	case r.ending.Hangs:
		return
	}
	w.push(at, kindEnded, i, 0, packRef(name, r.gen))
}
