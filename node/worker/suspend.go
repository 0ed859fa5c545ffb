package worker

import (
	"skep/exec"
	"skep/grid"
)

// startSuspending starts waiting attempts for which running ones of lower bids are suspended.
func (w *Worker) startSuspending(now grid.Time, accepted grid.AttemptID, fx *grid.Effects) {
	for {
		a, suspended := w.exec.StartSuspending(now)
		if a == nil {
			return
		}
		for _, s := range suspended {
			w.suspend(s, false, fx)
		}
		w.start(now, a, accepted, fx)
	}
}

// resume continues suspended attempts whose cores are free, and reports whether one is to go on before anything else
// starts.
func (w *Worker) resume(now grid.Time, fx *grid.Effects) (wait bool) {
	for {
		a, wait := w.exec.Resume(now)
		if a == nil {
			return wait
		}
		w.suspend(a, true, fx)
	}
}

func (w *Worker) suspend(a *exec.Work, resume bool, fx *grid.Effects) {
	fx.Suspends = append(fx.Suspends, grid.Suspend{Attempt: a.ID, Resume: resume})
	w.news.Changed = true
	w.tellSelf(a, fx)
}
