package deadline

import (
	"time"

	"skep/grid"
)

// Ends sums how tasks have ended that a node owned, so that what its users got can be compared: the mean of Weighted
// over Good is their weighted completion time, that of InTime over InTime and Late their weighted completion rate, and
// Value what the market study calls utility, with the time that a task ran for its size. None of them ever falls.
type Ends struct {
	Good, Missed, Other uint64 // tasks: with exit 0, not by their deadline, otherwise

	InTime   float64 // bids of those with exit 0 by the deadline, or without one
	Late     float64 // bids of all others
	Weighted float64 // Σ bid × seconds from the submission, of those with exit 0
	Value    float64 // Σ bid × worth of the result when it comes, 0 to 1, × seconds that it ran, of the same
}

// Add counts a task of a job that has ended so long after the submission.
func (e *Ends) Add(spec *grid.JobSpec, r *grid.Result, took time.Duration) {
	bid, sum := spec.Bid().Number(), &e.Late
	switch {
	case r.Cause == grid.Missed:
		e.Missed++
	case r.Exit != 0:
		e.Other++
	default:
		e.Good++
		e.Weighted += bid * took.Seconds()
		e.Value += bid * spec.Rules.Deadline.Worth(took) * min(r.Wall, took).Seconds() // a worker says how long it ran
		if spec.Rules.Deadline.Met(took) {
			sum = &e.InTime
		}
	}
	*sum += bid
}
