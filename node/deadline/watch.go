package deadline

import (
	"fmt"
	"time"

	"skep/grid"
	"skep/heap"
)

// Watch is the deadlines to come of the jobs that a node keeps. A job that is over by then is forgotten only when its
// deadline comes: it may be opened again before.
type Watch struct {
	jobs heap.Heap[grid.Time, grid.JobID, byID]
	wake grid.Time // of the timer that is set; 0 = none
}

// byID orders jobs whose deadlines come at the same time.
type byID struct{}

// Before implements [heap.Order].
func (byID) Before(a, b grid.JobID) bool { return a.Compare(b) < 0 }

// Add has Due return a job from its deadline on, once for each time that it was added.
func (w *Watch) Add(at grid.Time, id grid.JobID, fx *grid.Effects) {
	w.jobs.Push(at, id)
	w.setTimer(fx)
}

// Due returns a job whose deadline is over, and forgets it; false = there is none, and a timer is set for the next.
func (w *Watch) Due(now grid.Time, fx *grid.Effects) (id grid.JobID, due bool) {
	if now >= w.wake {
		w.wake = 0
	}
	if w.jobs.Len() > 0 {
		if at, _ := w.jobs.First(); now >= at {
			_, id = w.jobs.Pop()
			return id, true
		}
	}
	w.setTimer(fx)
	return id, false
}

func (w *Watch) setTimer(fx *grid.Effects) {
	if w.jobs.Len() == 0 {
		return
	}
	if at, _ := w.jobs.First(); w.wake == 0 || at < w.wake {
		w.wake = max(at, 1)
		fx.Wake(w.wake, grid.TimerDeadline, 0)
	}
}

// Left is the time from now after which a result of a job is worth nothing; false = the job has no deadline.
func Left(now, arrived grid.Time, d grid.Deadline) (time.Duration, bool) {
	return arrived.Add(d.Last()).Sub(now), d.Some()
}

// Missed is how tasks end that had not ended when a result was worth nothing any more.
func Missed(d grid.Deadline) *grid.Result {
	return &grid.Result{Cause: grid.Missed, Exit: grid.ExitMissed,
		Error: fmt.Sprintf("missed: it had not ended %v after its job was submitted, which is %s", d.Last(), name(d))}
}

func name(d grid.Deadline) string {
	if d.Worthless > 0 {
		return "when its result is worth nothing (deadline.worthless)"
	}
	return "its deadline"
}
