package reputation

import "skep/grid"

// Promise is the completion time promised for an attempt, and what its worker's record needs to know of it.
type Promise struct {
	Made     grid.Time // when the worker was chosen; 0 = before this start, or by another owner
	expected float64   // promised completion, seconds after Made
	lateAt   grid.Time // late from then on; 0 = it is in no record
	sentAt   grid.Time // when it was sent, as known since this start
	results  uint64    // Records.results at that time
}

// Start notes that an attempt is outstanding from now on.
func (r *Records) Start(now grid.Time, p *Promise) { p.sentAt, p.results = now, r.results }

// Void makes the attempt's time measure nothing.
func (p *Promise) Void() { p.expected = 0 }

// Given adds an attempt to the worker's outstanding ones. It is promised after ect seconds; usual is the expected run
// time of its class in seconds. Where that is 0 = unknown, so is when the attempt becomes late.
func (rec *Record) Given(now grid.Time, p *Promise, ect, usual float64) {
	p.expected, p.lateAt = 0, grid.Never
	if usual > 0 {
		p.expected = max(ect, usual)
		p.lateAt = now.Add(grid.Seconds(lateFactor*p.expected)) + lateSlack
	}
	rec.addDue(p.lateAt)
}

// date sets when an attempt becomes late, if that was unknown when it was given.
func (rec *Record) date(p *Promise, usual float64) {
	if p.lateAt == grid.Never {
		rec.removeDue(p.lateAt)
		p.lateAt = p.Made.Add(grid.Seconds(lateFactor*usual)) + lateSlack
		rec.addDue(p.lateAt)
	}
}
