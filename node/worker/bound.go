package worker

import (
	"slices"
	"time"

	"skep/exec"
	"skep/grid"
)

// Bounds on the run time of a class. A task that runs longer was declared too small and delays the small tasks behind
// it. It is stopped, and its owner places it again with the next class, which may belong to other nodes [4 of
// balance, sections 3.4 and 14: the bound theta of a class]. That is not a loss. A task that may run at most once is
// exempt.

// Bound limits how long a task of a class may run on this node, and names the class of a task that takes longer.
type Bound struct {
	Class string
	Time  time.Duration // running time
	Next  string
}

// boundOf returns the bound of a running attempt; nil if it has none. A rank has none: it would end its gang.
func (w *Worker) boundOf(a *exec.Work) *Bound {
	if a.Spec.Retries == 0 || a.Spec.IsGang() {
		return nil
	}
	k := slices.IndexFunc(w.cfg.Bounds, func(b Bound) bool { return b.Class == a.Class })
	if k < 0 {
		return nil
	}
	return &w.cfg.Bounds[k]
}

// stopOverBound stops attempts that exceed their bound and schedules the next check. Without bounded attempts there
// is no timer.
func (w *Worker) stopOverBound(now grid.Time, fx *grid.Effects) {
	if len(w.cfg.Bounds) == 0 {
		return
	}
	next := grid.Never
	for _, a := range slices.Clone(w.exec.Running()) {
		b := w.boundOf(a)
		if b == nil {
			continue
		}
		if w.exec.Suspended(a) {
			continue
		}
		if at := w.exec.Ends(now, a, b.Time); now < at {
			next = min(next, at)
			continue
		}
		w.stop(now, a, &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep, Wall: now.Sub(a.Started), Next: b.Next,
			Error: "it ran for longer than tasks of its class may here"}, fx)
	}
	if next < grid.Never && (w.boundWake <= now || next < w.boundWake) {
		w.boundWake = next
		fx.Wake(next, grid.TimerBound, 0)
	}
}
