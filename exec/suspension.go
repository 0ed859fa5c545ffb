package exec

import (
	"cmp"
	"slices"
	"time"

	"skep/grid"
)

// Preemption is when queued work has running work suspended in place: protocols HBP (Factor 1) and HBP-T of [2].
// The cores of suspended work are free, its memory stays taken.
type Preemption struct {
	MaxBid grid.Bid // higher bids count as this; 0 = there are none
	Factor float64  // least ratio of the bids of queued and running work; 0 = never
}

func (p *Preemption) cap(b grid.Bid) grid.Bid {
	if p.MaxBid > 0 {
		return min(b, p.MaxBid)
	}
	return b
}

// suspension is what is known of an attempt that is suspended, or was.
type suspension struct {
	work  *Work
	by    grid.TaskID   // the last that had it suspended
	since grid.Time     // of the last one
	ended time.Duration // all earlier ones
	times int
	on    bool
}

// suspensions are those of the attempts that run.
type suspensions struct {
	rule Preemption
	list []*suspension // in the order of their first ones
}

// Preempt sets when queued work has running work suspended, before any comes. Without it, it never has.
func (e *Exec) Preempt(rule Preemption) {
	if e.suspended = nil; rule.Factor > 0 {
		e.suspended = &suspensions{rule: rule}
	}
}

func (s *suspensions) of(w *Work) *suspension {
	if s == nil {
		return nil
	}
	for _, x := range s.list {
		if x.work == w {
			return x
		}
	}
	return nil
}

// time is for how long the attempt has been suspended until now.
func (x *suspension) time(now grid.Time) time.Duration {
	switch {
	case x == nil:
		return 0
	case x.on:
		return x.ended + now.Sub(x.since)
	}
	return x.ended
}

// Suspended reports whether running work is suspended, and for which task.
func (e *Exec) Suspended(w *Work) (by grid.TaskID, is bool) {
	if x := e.suspended.of(w); x != nil && x.on {
		return x.by, true
	}
	return grid.TaskID{}, false
}

// age is for how long running work has run until now, without the time in which it was suspended.
func (e *Exec) age(now grid.Time, w *Work) time.Duration {
	return now.Sub(w.Started) - e.suspended.of(w).time(now)
}

// Ends is when running work that is not suspended has run for a time.
func (e *Exec) Ends(now grid.Time, w *Work, d time.Duration) grid.Time {
	return now.Add(d - e.age(now, w))
}

// StartSuspending starts the first queued work, in the order of turns, that gets its cores when running work of lower
// bids is suspended, and suspends that: the lowest bid first, of equal ones what has run for the shortest time. nil =
// there is none.
func (e *Exec) StartSuspending(now grid.Time) (start *Work, suspended []*Work) {
	if e.suspended == nil || len(e.running) == 0 {
		return nil, nil
	}
	for _, l := range e.lines.inTurn(now) {
		for _, w := range l.Of.awake {
			if w.Held || e.gate != nil && !e.gate(now, w) {
				continue
			}
			if victims, enough := e.victims(now, e.bid(w), w.Spec.Needs.Resources); enough {
				for _, v := range victims {
					e.suspend(now, v, w.ID.Task)
				}
				e.Start(now, w)
				return w, victims
			}
			break // what follows in a line bids about the same
		}
	}
	return nil, nil
}

// victims returns what is to be suspended so that work with a bid and a need can start; false = that is not enough.
func (e *Exec) victims(now grid.Time, bid grid.Bid, need grid.Resources) (victims []*Work, enough bool) {
	if e.free.Memory < need.Memory || !e.free.Counts.Fits(need.Counts) {
		return nil, false
	}
	lack := need.CPU - e.free.CPU
	if lack <= 0 {
		return nil, true
	}
	for _, w := range e.running {
		if e.outbids(bid, w) && e.suspended.allow(now, w) {
			victims = append(victims, w)
		}
	}
	slices.SortStableFunc(victims, func(a, b *Work) int {
		return cmp.Or(cmp.Compare(e.bid(a), e.bid(b)), cmp.Compare(b.Started, a.Started))
	})
	for i, w := range victims {
		if lack -= w.Spec.Needs.CPU; lack <= 0 {
			return victims[:i+1], true
		}
	}
	return nil, false
}

// bid is the bid of work, up to the highest that this node knows.
func (e *Exec) bid(w *Work) grid.Bid { return e.suspended.rule.cap(w.Spec.Bid()) }

// outbids reports whether a bid is high enough to have running work suspended.
func (e *Exec) outbids(bid grid.Bid, w *Work) bool {
	return bid > e.bid(w) && float64(bid) >= e.suspended.rule.Factor*float64(e.bid(w))
}

// suspendsFor reports whether running work would be suspended for a task that came now, with a bid above all that wait.
func (e *Exec) suspendsFor(now grid.Time, bid grid.Bid, need grid.Resources) bool {
	if e.suspended == nil || e.lines.all == nil || bid == 0 {
		return false
	}
	bid = e.suspended.rule.cap(bid)
	for _, l := range e.lines.all.Open() {
		if list := l.Of.awake; len(list) > 0 && e.bid(list[0]) >= bid {
			return false
		}
	}
	_, enough := e.victims(now, bid, need)
	return enough
}

// allow reports whether running work may be suspended. A rank of a gang is not, since the others would wait for it, nor
// is work with counted resources, which it keeps, nor what has begun at this moment: the driver is yet to start it.
func (s *suspensions) allow(now grid.Time, w *Work) bool {
	if w.Spec.IsGang() || w.Spec.Needs.Counts != "" || w.Started == now {
		return false
	}
	x := s.of(w)
	return x == nil || !x.on && x.times < grid.MaxSuspensions && x.ended < grid.MaxSuspended
}

func (e *Exec) suspend(now grid.Time, w *Work, by grid.TaskID) {
	x := e.suspended.of(w)
	if x == nil {
		x = &suspension{work: w}
		e.suspended.list = append(e.suspended.list, x)
	}
	x.on, x.since, x.by = true, now, by
	x.times++
	e.free.CPU += w.Spec.Needs.CPU
	e.check()
}

// Resume continues the suspended work whose turn it is, if its cores are free: what was suspended for too long first,
// then the highest bid, then what was suspended first. It goes before queued work but for such as would have it
// suspended again. nil = there is none; wait = nothing else may start before it.
func (e *Exec) Resume(now grid.Time) (w *Work, wait bool) {
	if e.suspended == nil {
		return nil, false
	}
	var best *suspension
	for _, x := range e.suspended.list {
		if x.on && (best == nil || e.before(now, x, best)) {
			best = x
		}
	}
	if best == nil {
		return nil, false
	}
	overdue := best.time(now) >= grid.MaxSuspended
	if best.work.Spec.Needs.CPU > e.free.CPU {
		return nil, overdue
	}
	if !overdue && e.outbid(now, best.work) {
		return nil, false
	}
	best.on, best.ended = false, best.time(now)
	e.free.CPU -= best.work.Spec.Needs.CPU
	e.check()
	return best.work, false
}

func (e *Exec) before(now grid.Time, a, b *suspension) bool {
	if a, b := a.time(now) >= grid.MaxSuspended, b.time(now) >= grid.MaxSuspended; a != b {
		return a
	}
	if a, b := e.bid(a.work), e.bid(b.work); a != b {
		return a > b
	}
	return a.since < b.since
}

// outbid reports whether queued work that could start now would have w suspended.
func (e *Exec) outbid(now grid.Time, w *Work) bool {
	for _, l := range e.lines.inTurn(now) {
		for _, q := range l.Of.awake {
			if q.Held || e.gate != nil && !e.gate(now, q) {
				continue
			}
			if e.free.Fits(q.Spec.Needs.Resources) && e.outbids(e.bid(q), w) {
				return true
			}
			break
		}
	}
	return false
}

// dropSuspension forgets that work which runs no more was suspended, and returns what it has taken until now.
func (e *Exec) dropSuspension(w *Work) grid.Resources {
	taken, x := w.Spec.Needs.Resources, e.suspended.of(w)
	if x == nil {
		return taken
	}
	if x.on {
		taken.CPU = 0
	}
	e.suspended.list = slices.DeleteFunc(e.suspended.list, func(y *suspension) bool { return y == x })
	return taken
}
