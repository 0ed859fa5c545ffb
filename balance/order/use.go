package order

import (
	"math"
	"time"

	"skep/grid"
)

// use is what a node, or a user of one, has used of late and is using.
type use struct {
	used  float64 // core-seconds, decayed to at
	at    grid.Time
	cores float64 // of its running work

	promised float64 // core-seconds that the running work was expected to use
	starts   float64 // Σ cores·start in seconds
	running  int     // its running works
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

// advance brings use to a time.
func (a *use) advance(now grid.Time, half time.Duration, d *decay) {
	if now <= a.at {
		return
	}
	if a.used != 0 || a.cores != 0 {
		d.set(now.Sub(a.at), half)
		a.used = a.used*d.left + a.cores*d.perCore
	}
	a.at = now
}

// score is the use that counts at the time of the last advance, in core-seconds: what was used and decayed, and what
// the running work is expected to use beyond what it has.
func (a *use) score() float64 {
	if a.cores == 0 {
		return a.used
	}
	return a.used + max(a.promised-(a.cores*seconds(a.at)-a.starts), 0)
}

func seconds(t grid.Time) float64 { return time.Duration(t).Seconds() }

// start counts a work that starts at the time of the last advance.
func (a *use) start(cores, expected float64) {
	a.cores += cores
	a.running++
	a.promised += cores * expected
	a.starts += cores * seconds(a.at)
}

// end counts the end of a work that start counted.
func (a *use) end(cores, expected float64, started grid.Time) {
	if a.running--; a.running == 0 { // rounding does not add up
		a.cores, a.promised, a.starts = 0, 0, 0
		return
	}
	a.cores -= cores
	a.promised -= cores * expected
	a.starts -= cores * seconds(started)
}
