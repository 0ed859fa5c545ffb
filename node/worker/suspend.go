package worker

import (
	"skep/exec"
	"skep/grid"
)

// startSuspending starts a waiting attempt for which running ones of lower bids are suspended, and reports whether
// there is one. What it leaves of their cores others may take.
func (w *Worker) startSuspending(now grid.Time, accepted grid.AttemptID, fx *grid.Effects) bool {
	a, suspended := w.exec.StartSuspending(now)
	if a == nil {
		return false
	}
	for _, s := range suspended {
		w.suspend(now, s, false, fx)
	}
	w.start(now, a, accepted, fx)
	return true
}

// resume continues suspended attempts whose cores are free; with anyway, also those that waiting ones would have
// suspended again if they could start.
func (w *Worker) resume(now grid.Time, anyway bool, fx *grid.Effects) {
	for {
		a := w.exec.Resume(now, anyway)
		if a == nil {
			return
		}
		w.goOn(now, a, fx)
	}
}

// goOn has an attempt go on that the ledger has resumed.
func (w *Worker) goOn(now grid.Time, a *exec.Work, fx *grid.Effects) {
	w.suspend(now, a, true, fx)
	if w.boundOf(a) != nil {
		w.stopOverBound(now, fx)
	}
}

func (w *Worker) suspend(now grid.Time, a *exec.Work, resume bool, fx *grid.Effects) {
	fx.Suspends = append(fx.Suspends, grid.Suspend{Attempt: a.ID, Resume: resume})
	w.news.Changed = true
	w.tellSelf(a, fx)
	w.wakeForBeat(now, a.Lease, fx)
}

// tellSelf tells this node, if it owns the job of an attempt, what has changed.
func (w *Worker) tellSelf(a *exec.Work, fx *grid.Effects) {
	if w.own(a.ID.Task.Job) {
		fx.Changed = append(fx.Changed, a.ID.Task)
		w.beat(w.cfg.Self, a, fx)
	}
}
