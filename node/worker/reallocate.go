package worker

import (
	"skep/balance/reallocation"
	"skep/grid"
)

// reallocating allocates the cores anew now and then (package reallocation); without a configuration never.
type reallocating struct {
	ticks   reallocation.Ticks
	chooser *reallocation.Chooser // nil = never
}

func (r *reallocating) begin(c *reallocation.Config) {
	if c.On() {
		r.ticks, r.chooser = reallocation.NewTicks(c, 0), reallocation.NewChooser(c)
	}
}

// awaitReallocation sets the timer of the next event, if anything waits for one. accepted is the attempt that has just
// come, the zero value if none has.
func (w *Worker) awaitReallocation(now grid.Time, accepted grid.AttemptID, fx *grid.Effects) {
	if w.reallocating.chooser == nil || w.exec.Queued() == 0 && !w.exec.AnySuspended() {
		return
	}
	came := w.exec.Get(accepted)
	if at := w.reallocating.ticks.Waits(now, came != nil && came.State == grid.WorkQueued); at != 0 {
		fx.Wake(at, grid.TimerReallocate, 0)
	}
}

// reallocate suspends, continues and starts attempts, so that those run that are worth most.
func (w *Worker) reallocate(now grid.Time, fx *grid.Effects) {
	if w.reallocating.chooser == nil || !w.reallocating.ticks.Due(now) {
		return
	}
	if !w.leaving && !w.exec.Draining() {
		x := w.exec.Reallocate(now, w.reallocating.chooser)
		for _, a := range x.Suspended {
			w.suspend(now, a, false, fx)
		}
		for _, a := range x.Resumed {
			w.goOn(now, a, fx)
		}
		for _, a := range x.Started {
			w.start(now, a, grid.AttemptID{}, fx)
		}
	}
	w.startReady(now, fx) // what is still free, and the timer of the next event
}
