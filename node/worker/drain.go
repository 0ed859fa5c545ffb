package worker

import (
	"slices"

	"skep/grid"
)

// Drain makes the node accept nothing more, hands back queued attempts, and gives running ones until a time.
func (w *Worker) Drain(now, until grid.Time, fx *grid.Effects) {
	w.exec.Drain(true)
	w.drainUntil = until
	fx.Wake(until, grid.TimerDrain, 0)
	w.HandBackQueue(now, fx)
}

// Undrain makes the node accept attempts again.
func (w *Worker) Undrain(now grid.Time, fx *grid.Effects) {
	w.exec.Drain(false)
	w.startReady(now, fx)
}

// DrainUntil is the time at which a draining node stops its running attempts. It is not on disk: a node that restarts
// accepts work again.
func (w *Worker) DrainUntil() grid.Time { return w.drainUntil }

// Leaving reports whether the node is stopping, and starts nothing.
func (w *Worker) Leaving() bool { return w.leaving }

// Unacked is the number of results and hand-backs that connected owners have not acknowledged.
func (w *Worker) Unacked() (n int) {
	for _, a := range w.exec.Finished() {
		if w.cfg.Contacts.Connected(w.Owner(a.ID.Task.Job)) {
			n++
		}
	}
	return n
}

// HandBackQueue hands the queued attempts of a draining node back to their owners as refusals, since they never ran.
// Attempts of disconnected owners wait until those connect: a drain that ends before lets them start.
func (w *Worker) HandBackQueue(now grid.Time, fx *grid.Effects) {
	if !w.exec.Draining() || w.leaving {
		return
	}
	for _, a := range slices.Clone(w.exec.Queue()) {
		if w.cfg.Contacts.Connected(w.Owner(a.ID.Task.Job)) {
			w.handBack(now, a, grid.HandBack{Why: grid.WhyDrain}, fx)
		}
	}
}

// stopDrained stops the attempts that still run at the deadline. They count as lost and run again elsewhere if their
// job allows it.
func (w *Worker) stopDrained(now grid.Time, fx *grid.Effects) {
	if !w.exec.Draining() || w.leaving || now < w.drainUntil {
		return
	}
	w.HandBackQueue(now, fx)
	for _, a := range slices.Clone(w.exec.Running()) {
		w.stop(now, a, lost("the node was drained, and the task ran on beyond the time that it was given"), fx)
	}
}

// Leave hands the attempts of other owners back, since the node is about to stop: queued ones are refused, running ones
// are reported as lost, unless they go on meanwhile.
func (w *Worker) Leave(now grid.Time, fx *grid.Effects) {
	w.leaving = true
	w.exec.Drain(true)
	for _, a := range slices.Clone(w.exec.Queue()) {
		if !w.own(a.ID.Task.Job) {
			w.handBack(now, a, grid.HandBack{Why: grid.WhyDrain}, fx)
		}
	}
	for _, a := range slices.Clone(w.exec.Running()) {
		if !w.own(a.ID.Task.Job) && !w.cfg.Durable {
			w.keepResult(now, a.ID, lost("the node was stopped"), true, fx)
		}
	}
}

// Wake handles the worker's timers.
func (w *Worker) Wake(now grid.Time, k grid.TimerKind, fx *grid.Effects) {
	switch k {
	case grid.TimerBeat:
		w.stops.note(now)
		w.stops.due = 0
		w.sendBeats(now, fx)
	case grid.TimerResult:
		w.sendDueResults(now, fx)
	case grid.TimerBound:
		w.stopOverBound(now, fx)
	case grid.TimerReserve:
		w.reservationExpired(now, fx)
	case grid.TimerReallocate:
		w.reallocate(now, fx)
	case grid.TimerDrain:
		w.stopDrained(now, fx)
	}
}
