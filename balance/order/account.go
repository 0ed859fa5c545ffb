package order

import (
	"math"
	"slices"
	"time"

	"skep/grid"
)

// account is what a node, or a user of one, has used of late and is using.
type account struct {
	owner
	used  float64 // core-seconds, decayed to at
	at    grid.Time
	cores float64 // of its running work

	running  int     // its running works
	promised float64 // core-seconds that they were expected to use
	starts   float64 // Σ cores·start in seconds
	lines    int     // that count for it

	foreseen float64 // core-seconds of what is foreseen to start, in a Walk
}

// decay is the share of use that is left after a time. Most accounts are brought to the same time after the same one.
type decay struct {
	half    time.Duration
	after   time.Duration
	left    float64
	perCore float64 // what a core used in that time, in seconds, decayed
}

func (d *decay) set(after time.Duration) {
	if after == d.after && d.left > 0 {
		return
	}
	rate := math.Ln2 / d.half.Seconds()
	d.after, d.left = after, math.Exp(-rate*after.Seconds())
	d.perCore = (1 - d.left) / rate
}

// advance brings an account to a time.
func (a *account) advance(now grid.Time, d *decay) {
	if now <= a.at {
		return
	}
	if a.used != 0 || a.cores != 0 {
		d.set(now.Sub(a.at))
		a.used = a.used*d.left + a.cores*d.perCore
	}
	a.at = now
}

// score is the use that counts, in core-seconds: what was used and decayed, and what the running work is expected to
// use beyond what it has.
func (a *account) score(now grid.Time, d *decay) float64 {
	if a.cores == 0 && a.used == 0 {
		return a.foreseen
	}
	if a.advance(now, d); a.cores == 0 {
		return a.used + a.foreseen
	}
	return a.used + a.foreseen + max(a.promised-(a.cores*seconds(now)-a.starts), 0)
}

func seconds(t grid.Time) float64 { return time.Duration(t).Seconds() }

// start counts a work that starts.
func (a *account) start(now grid.Time, d *decay, cores, expected float64) {
	a.advance(now, d)
	a.cores += cores
	a.running++
	a.promised += cores * expected
	a.starts += cores * seconds(now)
}

// end counts the end of a work that start counted.
func (a *account) end(now grid.Time, d *decay, cores, expected float64, started grid.Time) {
	a.advance(now, d)
	if a.running--; a.running == 0 { // rounding does not add up
		a.cores, a.promised, a.starts = 0, 0, 0
		return
	}
	a.cores -= cores
	a.promised -= cores * expected
	a.starts -= cores * seconds(started)
}

// accounts are found by their owner: a few are searched, more have an index.
type accounts struct {
	list  []*account
	index map[owner]*account
}

func (x *accounts) find(w owner) *account {
	if x.index != nil {
		return x.index[w]
	}
	for _, a := range x.list {
		if a.owner == w {
			return a
		}
	}
	return nil
}

func (x *accounts) add(w owner) *account {
	a := &account{owner: w}
	x.list = append(x.list, a)
	if x.index != nil {
		x.index[w] = a
	} else if len(x.list) > fewLines {
		x.index = make(map[owner]*account)
		for _, a := range x.list {
			x.index[a.owner] = a
		}
	}
	return a
}

// sweep forgets the accounts that nothing counts for and that have used next to nothing.
func (x *accounts) sweep(d *decay) {
	now := grid.Time(0)
	for _, a := range x.list {
		now = max(now, a.at)
	}
	x.list = slices.DeleteFunc(x.list, func(a *account) bool {
		gone := a.lines == 0 && a.running == 0 && a.score(now, d) < leastScored
		if gone {
			delete(x.index, a.owner)
		}
		return gone
	})
}
