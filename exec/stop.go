package exec

import "skep/grid"

// holding is what an attempt still has taken that was told to end.
type holding struct {
	id   grid.AttemptID
	need grid.Resources
}

// Cut is Finish for a running attempt that is told to end: what it holds stays taken until Stopped.
func (e *Exec) Cut(id grid.AttemptID, r *grid.Result) *Work {
	if w := e.Get(id); w != nil {
		w.cut = true
	}
	return e.Finish(id, r)
}

// Stopped says that nothing of an attempt runs any more, and reports whether that was waited for.
func (e *Exec) Stopped(id grid.AttemptID) bool {
	for i := range e.stopping {
		if h := e.stopping[i]; h.id == id {
			e.stopping = append(e.stopping[:i], e.stopping[i+1:]...)
			e.free = e.free.Plus(h.need)
			e.check()
			return true
		}
	}
	return false
}

// Stopping is how many attempts were told to end and have not yet ended.
func (e *Exec) Stopping() int { return len(e.stopping) }
