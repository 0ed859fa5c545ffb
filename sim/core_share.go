package sim

import (
	"time"

	"skep/exec/proportional"
	"skep/grid"
)

// setShare sets the share of a node's cores that other users leave; its driver measures it at once.
func (w *World) setShare(i int32, left float64) {
	w.hosts[i].coreShare = left
	w.books.Hindsight().Shared(w.now, i, left)
	w.updateSpeed(i)
	w.reportAvailability(i)
}

// reportAvailability tells a node the availability that its driver measures, once it is below 1.
func (w *World) reportAvailability(i int32) {
	h := &w.hosts[i]
	_, up := w.cfg.Available(int(i))
	if !h.up || h.coreShare == 1 && up == 1 && !h.reportsAvailability {
		return
	}
	h.reportsAvailability = true
	w.ev = grid.Event{Kind: grid.EvAvailable,
		Observed: grid.Observed{Available: grid.Available{Left: h.coreShare, Up: up}}}
	w.step(i, &w.ev)
}

// updateSpeed computes the speed of a node's runs: they share the cores that other users leave, at full speed while
// they need no more than these; those with a weight by that.
func (w *World) updateSpeed(i int32) {
	h := &w.hosts[i]
	speed, level := 1.0, w.levelOf(h)
	if have := h.coreShare * float64(h.cap.CPU); float64(h.used.CPU) > have {
		speed = have / float64(h.used.CPU)
	}
	if speed == h.speed && level == h.level {
		return
	}
	for name := h.runs; name >= 0; name = w.runs[name].nextOnNode {
		if r := &w.runs[name]; r.executing {
			r.remaining -= r.progress(w.now, w.speedOf(r))
			r.remainingAt = w.now
		}
	}
	h.speed, h.level = speed, level
	w.setRankSpeed(i)
	for name := h.runs; name >= 0; name = w.runs[name].nextOnNode {
		if r := &w.runs[name]; r.executing && !r.stopping && !r.suspended { // a stopping run ends at the time that was set
			r.gen++ // invalidates the scheduled end
			w.scheduleEnd(i, name)
		}
	}
}

// levelOf is the level at which the kernel of a node divides its cores among the runs that have a weight; 0 = none has.
func (w *World) levelOf(h *host) float64 {
	tasks := w.sharers[:0]
	for name := h.runs; name >= 0; name = w.runs[name].nextOnNode {
		if r := &w.runs[name]; r.weight > 0 {
			tasks = append(tasks, proportional.Task{Bid: r.weight, Cores: r.spec.Needs.CPU.Cores()})
		}
	}
	if w.sharers = tasks; len(tasks) == 0 {
		return 0
	}
	return proportional.Level(h.coreShare*float64(h.cap.CPU)/float64(grid.CPU), tasks)
}

// speedOf is the speed of a run relative to normal.
func (w *World) speedOf(r *run) float64 {
	h := &w.hosts[r.node]
	if r.weight == 0 {
		return h.speed
	}
	return proportional.Speed(h.level, r.weight)
}

// progress is how much of its duration a run has done since remainingAt.
func (r *run) progress(now grid.Time, speed float64) time.Duration {
	if r.suspended {
		return 0
	}
	return time.Duration(float64(now.Sub(r.remainingAt)) * speed)
}

// scheduleEnd schedules the end of a run: at the current speed, or at its time limit.
func (w *World) scheduleEnd(i int32, name int32) {
	r := &w.runs[name]
	left := max(r.remaining, 0)
	if speed := w.speedOf(r); speed < 1 {
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

// standing is for how long a run was suspended.
type standing struct {
	suspended   bool
	suspendedAt grid.Time
	stood       time.Duration // before
}

// suspendRun stops a run in place, or continues it. Its time limit stands still meanwhile. One that is told to end ends
// when that was to be, and only does not count.
func (w *World) suspendRun(i int32, s *grid.Suspend) {
	if name, r := w.runOf(i, s.Attempt); r != nil && r.suspended == s.Resume {
		w.books.Suspend(i, r.task, r.id.Attempt, !s.Resume)
		w.setSuspended(i, name, !s.Resume)
	}
}

func (w *World) setSuspended(i, name int32, on bool) {
	r, h := &w.runs[name], &w.hosts[i]
	if on {
		if r.executing && !r.stopping {
			r.remaining -= r.progress(w.now, w.speedOf(r))
			r.gen++ // invalidates the scheduled end
		}
		h.used.CPU -= r.spec.Needs.CPU
		r.suspended, r.suspendedAt = true, w.now
		w.updateSpeed(i)
		return
	}
	h.used.CPU += r.spec.Needs.CPU
	w.updateSpeed(i)
	r.suspended, r.remainingAt = false, w.now
	stood := w.now.Sub(r.suspendedAt)
	r.began, r.stood = r.began.Add(stood), r.stood+stood
	if r.executing && !r.stopping {
		w.scheduleEnd(i, name)
	}
}

// taken is what a run has of its node.
func (r *run) taken() grid.Resources {
	taken := r.spec.Needs.Resources
	if r.suspended {
		taken.CPU = 0
	}
	return taken
}

// busy returns the core-seconds that a run has held so far; that it has had, where it shares the cores, at its present
// speed.
func (r *run) busy(now grid.Time, speed float64) float64 {
	if r.weight > 0 {
		if !r.executing {
			return 0
		}
		return r.spec.Needs.CPU.Cores() * (r.duration - r.remaining + r.progress(now, speed)).Seconds()
	}
	if r.suspended {
		now = r.suspendedAt
	}
	return r.spec.Needs.CPU.Cores() * now.Sub(r.began).Seconds()
}

// Busy returns the core-seconds that runs have held on a node so far, whatever their results.
func (w *World) Busy(i int) float64 {
	sum := w.hosts[i].busy
	for name := w.hosts[i].runs; name >= 0; name = w.runs[name].nextOnNode {
		sum += w.runs[name].busy(w.now, w.speedOf(&w.runs[name]))
	}
	return sum
}
