package reputation

import (
	"time"

	"skep/grid"
)

// Start notes that an attempt is outstanding from now on.
func (r *Records) Start(now grid.Time, p *grid.Expectation) {
	p.SentAt, p.Accepted, p.Results = now, false, r.results
}

// Given adds an attempt to its worker's outstanding ones: see Record.Given.
func (r *Records) Given(now grid.Time, p *grid.Expectation, worker grid.NodeID, ect, usual float64) {
	r.Open(worker).Given(now, p, ect, usual)
}

// Given adds an attempt to the worker's outstanding ones. It is expected to be done after ect seconds; usual is the
// expected run time of its class in seconds. Where that is 0 = unknown, so is when the attempt becomes late.
func (rec *Record) Given(now grid.Time, p *grid.Expectation, ect, usual float64) {
	p.Expected, p.LateAt = 0, grid.Never
	if usual > 0 {
		p.Expected = max(ect, usual)
		p.LateAt = lateAt(now, p.Expected)
	}
	rec.addDue(p.LateAt)
}

// Redate gives an outstanding attempt as long as its class is now known to take, if that is longer than was expected of
// it: else every node with such a task would be late, however soon it is done.
func (r *Records) Redate(p *grid.Expectation, worker grid.NodeID, usual float64) {
	rec := r.Of(worker)
	if rec == nil || p.LateAt == 0 || p.LateAt == grid.Never || usual <= p.Expected {
		return
	}
	p.Expected = usual
	rec.setLate(p, max(p.LateAt, lateAt(p.Made, usual)))
}

// StoodStill leaves a time out of an attempt's age.
func (r *Records) StoodStill(p *grid.Expectation, worker grid.NodeID, d time.Duration) {
	p.SentAt = p.SentAt.Add(d)
	if p.Made > 0 {
		p.Made = p.Made.Add(d)
	}
	if rec := r.Of(worker); rec != nil && p.LateAt != 0 && p.LateAt != grid.Never {
		rec.setLate(p, p.LateAt.Add(d))
	}
}

// date sets when an attempt becomes late, if that was unknown when it was given.
func (rec *Record) date(p *grid.Expectation, usual float64) {
	if p.LateAt == grid.Never {
		rec.setLate(p, lateAt(p.Made, usual))
	}
}

// lateAt is when an attempt becomes late that is expected to be done so many seconds after a time.
func lateAt(from grid.Time, expected float64) grid.Time {
	return from.Add(grid.Seconds(lateFactor*expected)) + lateSlack
}

// setLate changes when an outstanding attempt becomes late.
func (rec *Record) setLate(p *grid.Expectation, at grid.Time) {
	rec.removeDue(p.LateAt)
	p.LateAt = at
	rec.addDue(at)
}
