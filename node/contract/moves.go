package contract

import (
	"skep/grid"
	"skep/node/gangs"
)

// How often a gang has moved is an entry of its job's register, where the job's spec says so (JobSpec.CountsMoves):
// which attempt was given up last for a move, and how many moves there were before. It is committed before that attempt
// is given up. So whoever owns the job knows the number, and whether a move has begun:
//
//	none ──► attempt a, n moves before: recorded ──► committed: a move may be made, or not
//	           │ the newest attempt is a: n moves        │ a is given up, lost, or nobody has it: n+1 moves
//	           └────────────── attempt b > a, n+1 moves before ◄──┘
//
// Invariant: an attempt that an entry is of ends as a move, whoever ends it and why: no retry is taken for it. So there
// are never more moves than the contract allows, and never more attempts than moves and retries allow.

// Register is what the register of a gang's job says.
type Register interface {
	Value(i uint32) (e *grid.Entry, committed bool)
}

// Made is how often a gang has moved whose newest attempt that is not over is a; the zero attempt = it has none.
func Made(spec *grid.JobSpec, r Register, a grid.Attempt) uint32 {
	switch e, _ := r.Value(spec.MovesEntry()); {
	case e == nil:
		return 0
	case e.Attempt == a:
		return e.Round
	default:
		return e.Round + 1
	}
}

// EndsAsMove reports whether a majority has recorded that an attempt is given up for a move.
func EndsAsMove(spec *grid.JobSpec, r Register, a grid.Attempt) bool {
	if !spec.CountsMoves() {
		return false
	}
	e, committed := r.Value(spec.MovesEntry())
	return e != nil && committed && e.Attempt == a
}

// IsOver reports whether an attempt was given up before the one of the newest move.
func IsOver(spec *grid.JobSpec, r Register, a grid.Attempt) bool {
	if !spec.CountsMoves() {
		return false
	}
	e, _ := r.Value(spec.MovesEntry())
	return e != nil && a.Less(e.Attempt)
}

// Entry returns the entry of a move for which the attempt that runs is given up; nil = it is recorded already.
func Entry(spec *grid.JobSpec, r Register, a grid.Attempt, wall int64) *grid.Entry {
	// an open entry has a result
	e := &grid.Entry{Index: spec.MovesEntry(), Attempt: a, Done: wall, Again: 1, Result: &grid.Result{Cause: grid.Lost}}
	if last, _ := r.Value(e.Index); last != nil {
		if last.Attempt == a {
			return nil
		}
		e.Round = last.Round + 1
	}
	return e
}

// Record notes that the slots of the gang's new schedule are sure, and that it waits for a majority to record its move.
func (c *Contract) Record() { c.ahead.records = true }

// Records returns where a gang moves to once its move is recorded; false = that is not waited for.
func (c *Contract) Records() (to gangs.Choice, waits bool) { return c.ahead.to, c.ahead.records }
