package worker

import (
	"time"

	"skep/exec"
	"skep/grid"
)

// Waiting work that goes to an idle node which asks for it.

const (
	minOverdue = 100 * time.Millisecond // work is not overdue before, whatever was predicted
	maxYields  = 64                     // waiting attempts that are considered for one pull
)

// Idle returns the free resources if the worker takes work and none waits in its queue; else nothing.
func (w *Worker) Idle() grid.Resources {
	if w.leaving || w.cfg.Private || len(w.exec.Queue()) > 0 || w.exec.Refuses(grid.Resources{}) != grid.WhyNone {
		return grid.Resources{}
	}
	return w.exec.Free()
}

// Queued reports whether work waits in the queue.
func (w *Worker) Queued() bool { return len(w.exec.Queue()) > 0 }

// overdueAt is when a waiting attempt has waited half as long again as was predicted when it came.
func overdueAt(a *exec.Work) grid.Time {
	return a.Accepted.Add(max(min(a.Expected, time.Hour)*3/2, minOverdue))
}

// NextOverdue is when the next of the first waiting attempts is overdue; Never = none will be.
func (w *Worker) NextOverdue(now grid.Time) grid.Time {
	next := grid.Never
	for i, a := range w.exec.Queue() {
		if at := overdueAt(a); at > now {
			next = min(next, at)
		}
		if i == maxYields {
			break
		}
	}
	return next
}

// Yields reports whether a waiting attempt would be given away to a node with free resources.
func (w *Worker) Yields(now grid.Time, free grid.Resources, there grid.Elsewhere) bool {
	return w.pulled(now, free, there) != nil
}

// Yield hands one back to its owner, for the node that asked, and reports whether it did.
func (w *Worker) Yield(now grid.Time, to grid.NodeID, free grid.Resources, there grid.Elsewhere, fx *grid.Effects) bool {
	a := w.pulled(now, free, there)
	if a == nil {
		return false
	}
	w.handBack(a, grid.Refusal{Why: grid.WhyPulled}, fx)
	fx.Sends[len(fx.Sends)-1].Msg.Puller = to
	return true
}

// pulled returns the first waiting attempt that would end sooner there, or is overdue; nil = none. Work without retries stays
// unless this node is its owner: if the refusal were lost in transit, the attempt would count as lost.
func (w *Worker) pulled(now grid.Time, free grid.Resources, there grid.Elsewhere) (found *exec.Work) {
	seen := 0
	w.exec.Waits(now, w.cfg.RunTime, func(a *exec.Work, wait float64) bool {
		own := w.own(a.ID.Task.Job)
		if seen++; !a.Stays && free.Fits(a.Spec.Needs.Resources) && (own || a.Spec.Retries > 0) {
			if took, may := there(w.Owner(a.ID.Task.Job), a.ID.Task.Job, a.Spec, a.Class); may &&
				(now >= overdueAt(a) || took < wait+w.exec.Mean(now, a.Class, w.cfg.RunTime)) {
				found = a
			}
		}
		return found == nil && seen < maxYields
	})
	return found
}
