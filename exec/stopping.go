package exec

import (
	"slices"

	"skep/grid"
)

// stoppingWork is the resources that an attempt still holds after it was told to end.
type stoppingWork struct {
	id   grid.AttemptID
	need grid.Resources
	bid  grid.Bid
}

// FinishStopping is Finish for a running attempt that is told to end: its resources stay taken until Stopped.
func (e *Exec) FinishStopping(id grid.AttemptID, r *grid.Result) *Work {
	if w := e.Get(id); w != nil {
		w.stopping = true
	}
	return e.Finish(id, r)
}

// Stopped releases the resources of an attempt that has stopped, and reports whether it was stopping.
func (e *Exec) Stopped(id grid.AttemptID) bool {
	for i := range e.stopping {
		if h := e.stopping[i]; h.id == id {
			e.stopping = append(e.stopping[:i], e.stopping[i+1:]...)
			e.free = e.free.Plus(h.need)
			e.sharing.end(e.lines.now, h.bid, h.need.CPU)
			e.check()
			return true
		}
	}
	return false
}

// IsStopping reports whether an attempt was told to end and still runs.
func (e *Exec) IsStopping(id grid.AttemptID) bool {
	return slices.ContainsFunc(e.stopping, func(s stoppingWork) bool { return s.id == id })
}

// Stopping returns the number of attempts that were told to end and still run.
func (e *Exec) Stopping() int { return len(e.stopping) }
