package failures

import "skep/grid"

// Ends are what the ends of a job's tasks that are not well come to.
type Ends struct {
	Failed       int32 // tasks whose exit code is not 0
	Withdrawn    int32 // of Failed, those that nobody wanted any more
	Missed       int32 // of Withdrawn, those that had not ended by the deadline
	Unaffordable int32 // of Withdrawn, those that the budget did not suffice for
	Exit         int32 // highest exit code
}

// Count counts an end.
func (e *Ends) Count(r *grid.CompactResult) {
	if r.Exit == 0 {
		return
	}
	if e.Failed++; r.Cause.Withdrawn() {
		e.Withdrawn++
	}
	switch r.Cause {
	case grid.Missed:
		e.Missed++
	case grid.Unaffordable:
		e.Unaffordable++
	}
	e.Exit = max(e.Exit, r.Exit)
}
