package exec

import (
	"slices"
	"time"

	"skep/balance/order"
	"skep/grid"
)

// suspension is what is known of an attempt that is suspended, or was.
type suspension struct {
	work  *Work
	by    grid.JobID    // the job for whose task it was last
	bid   grid.Bid      // of that job
	since grid.Time     // of the last one
	ended time.Duration // all earlier ones
	times int
	on    bool
}

// suspensions are those of the attempts that run. The cores of suspended work are free, its memory stays taken.
type suspensions struct {
	list  []*suspension // in the order of their first ones
	count uint64        // of all times
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

// Suspended reports whether running work is suspended.
func (e *Exec) Suspended(w *Work) bool {
	x := e.suspended.of(w)
	return x != nil && x.on
}

// SuspensionsOf returns how running work has been suspended, as of the last Advance; nil = it never was.
func (e *Exec) SuspensionsOf(w *Work) *grid.Suspensions {
	x := e.suspended.of(w)
	if x == nil {
		return nil
	}
	return &grid.Suspensions{Times: uint32(x.times), Stood: x.time(e.lines.now), By: x.by, Bid: x.bid}
}

// Resumes returns the expected time in seconds until running work that is suspended goes on; 0 = it is not. It is that
// until its cores are free for work of its key, and no longer than suspensions last in all.
func (e *Exec) Resumes(now grid.Time, w *Work, key order.Key, law Law) float64 {
	x := e.suspended.of(w)
	if x == nil || !x.on {
		return 0
	}
	most := max((grid.MaxSuspended - x.time(now)).Seconds(), 0)
	return min(max(e.WaitOf(now, key, grid.Resources{CPU: w.Spec.Needs.CPU}, law), passing), max(most, passing))
}

// Suspensions is how often work was suspended since the start.
func (e *Exec) Suspensions() uint64 {
	if e.suspended == nil {
		return 0
	}
	return e.suspended.count
}

// age is for how long running work has run until now, without the time in which it was suspended, and with what shares
// the cores as if it had had them to itself.
func (e *Exec) age(now grid.Time, w *Work) time.Duration {
	_, lost := e.shareOf(now, w)
	return now.Sub(w.Started) - e.suspended.of(w).time(now) - lost
}

// Ends is when running work that is not suspended has run for a time, at its present speed.
func (e *Exec) Ends(now grid.Time, w *Work, d time.Duration) grid.Time {
	speed, _ := e.shareOf(now, w)
	return now.Add(time.Duration(float64(d-e.age(now, w)) / max(speed, 1e-3)))
}

func (e *Exec) suspend(now grid.Time, w, by *Work) {
	x := e.suspended.of(w)
	if x == nil {
		x = &suspension{work: w}
		e.suspended.list = append(e.suspended.list, x)
	}
	x.on, x.since, x.by, x.bid = true, now, by.ID.Task.Job, by.Spec.Bid()
	x.times++
	e.suspended.count++
	e.free.CPU += w.Spec.Needs.CPU
	e.check()
}

// AnySuspended reports whether work is suspended.
func (e *Exec) AnySuspended() bool {
	return e.suspended != nil && slices.ContainsFunc(e.suspended.list, func(x *suspension) bool { return x.on })
}

// Resume continues the suspended work whose turn it is, if its cores are free: what was suspended for too long first,
// then the highest bid, then what was suspended first. It goes before queued work but for such as would have it
// suspended again; with anyway, also before that. nil = there is none.
func (e *Exec) Resume(now grid.Time, anyway bool) *Work {
	if e.suspended == nil {
		return nil
	}
	var best *suspension
	for _, x := range e.suspended.list {
		if x.on && (best == nil || e.before(now, x, best)) {
			best = x
		}
	}
	if best == nil || best.work.Spec.Needs.CPU > e.free.CPU {
		return nil
	}
	if !anyway && best.time(now) < grid.MaxSuspended && e.outbid(now, best.work) {
		return nil
	}
	e.resume(now, best)
	return best.work
}

func (e *Exec) resume(now grid.Time, x *suspension) {
	x.on, x.ended = false, x.time(now)
	e.free.CPU -= x.work.Spec.Needs.CPU
	e.check()
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
	for q := range e.heads(now) {
		if e.free.Fits(q.Spec.Needs.Resources) && e.outbids(e.bid(q), w) {
			return true
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
