package order

import (
	"math"
	"time"

	"skep/grid"
)

// use is what a node, or a user of one, has used of late.
type use struct {
	used float64 // core-seconds, decayed to at
	at   grid.Time
}

// running is the running work that counts for a use; nil = nothing does.
type running struct {
	works    int
	cores    float64
	promised float64 // core-seconds that it was expected to use
	starts   float64 // Σ cores·start in seconds
}

// decay is the share of use that is left after a time. Most use is brought to the same time after the same one.
type decay struct {
	after   time.Duration
	left    float64
	perCore float64 // what a core used in that time, in seconds, decayed
}

func (d *decay) set(after, half time.Duration) {
	if after == d.after && d.left > 0 {
		return
	}
	rate := math.Ln2 / half.Seconds()
	d.after, d.left = after, math.Exp(-rate*after.Seconds())
	d.perCore = (1 - d.left) / rate
}

// advance brings use to a time, of whom r runs.
func (a *use) advance(now grid.Time, r *running, half time.Duration, d *decay) {
	if now <= a.at {
		return
	}
	cores := 0.0
	if r != nil {
		cores = r.cores
	}
	if a.used != 0 || cores != 0 {
		d.set(now.Sub(a.at), half)
		a.used = a.used*d.left + cores*d.perCore
	}
	a.at = now
}

// score is the use that counts at the time of the last advance, in core-seconds: what was used and decayed, and what
// the running work is expected to use beyond what it has.
func (a *use) score(r *running) float64 {
	if r == nil || r.works == 0 {
		return a.used
	}
	return a.used + max(r.promised-(r.cores*seconds(a.at)-r.starts), 0)
}

func seconds(t grid.Time) float64 { return time.Duration(t).Seconds() }

// start counts a work that starts at a time.
func (r *running) start(now grid.Time, cores, expected float64) {
	r.works++
	r.cores += cores
	r.promised += cores * expected
	r.starts += cores * seconds(now)
}

// end counts the end of a work that start counted.
func (r *running) end(cores, expected float64, started grid.Time) {
	if r.works--; r.works == 0 { // rounding does not add up
		*r = running{}
		return
	}
	r.cores -= cores
	r.promised -= cores * expected
	r.starts -= cores * seconds(started)
}
