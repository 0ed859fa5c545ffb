package exec

import (
	"slices"

	"skep/balance/order"
	"skep/grid"
)

// minRemaining is the least expected remaining time of a running task, as a share of its mean.
const minRemaining = 0.25

// overrunTolerance is how many means a run may exceed its mean by before that is significant, where run times are
// exponential: one in fifty does.
const overrunTolerance = 3

// stoppingTime is the expected remaining time of a stopping attempt, in seconds: most end at once, others have a grace
// period of a few seconds.
const stoppingTime = 0.5

// Wait returns the expected time in seconds until a task with that need, accepted now, would start:
//
//	0                                      if it fits and nothing is queued
//	a moment                               if it fits and passes all that is queued
//	1 / Σ_running 1/rest  +  Σ_queued cpu·mean / capacity      otherwise
//
// where work that waits for counted resources counts as backlog.cores and backlog.wait say.
//
// rest is the expected remaining time of a running task of mean m and squared coefficient of variation c²; its mean if
// tasks count whole:
//
//	c²·m + (1−c²)·max(m − age, 0)
//
// which is exact where all take equally long, and where run times are exponential: then an age is not informative. A
// task that has overrun by more than overrunTolerance is expected to need as much again. The first term of the wait is
// the mean time to the first of several exponential ends; with one slot it is rest itself, so that the sum is the
// expected completion time of [1] less the task's own. Queued work counts by the share of the capacity that it needs.
//
// It is 0 too for a task that would have running work suspended. It counts all queued work: WaitOf counts what goes
// before a task of a job.
func (e *Exec) Wait(now grid.Time, need grid.Resources, law Law) float64 {
	return e.WaitOf(now, order.Key{}, need, law)
}

// WaitOf is Wait for a task with that key: of queued work, what is ahead of it counts (order.Lines.Ahead).
func (e *Exec) WaitOf(now grid.Time, key order.Key, need grid.Resources, law Law) float64 {
	if e.queue.Len() == 0 && e.fits(key.Bid, need) || e.suspendsFor(now, key.Bid, need) {
		return 0
	}
	e.updateAges(now)
	ran, first := e.Ahead(now, key.Bid, need, law)
	if e.whole {
		first += ran
	}
	whole := !e.lines.share(now, key, law)
	var ahead backlog
	for _, c := range e.classes {
		if c.idle() {
			continue
		}
		mean := c.mean(law)
		if !whole {
			mean *= c.ahead
		}
		ahead.addPlain(c.queued, mean)
		if c.holds != nil {
			ahead.addHolds(e, c.holds.cpu, c.holds.units, mean)
		}
	}
	wait := first + ahead.wait(e, need.Counts)
	if wait > passing && e.passes(key.Bid, need) {
		return passing
	}
	return wait
}

// passing is the wait of a task that would start at once beside work that is too big for what is free: a node where
// nothing waits is before this one.
const passing = 1e-6

// passes reports whether a task with that need, accepted now, would start before all that is queued.
func (e *Exec) passes(bid grid.Bid, need grid.Resources) bool {
	if !e.fits(bid, need) {
		return false
	}
	if e.sharing != nil {
		return e.mayPass(MaxSeen)
	}
	room, _ := e.Room(MaxSeen)
	return room.Fits(need)
}

// MaxSeen bounds the queued work that is looked at for who may pass it, or have it instead.
const MaxSeen = 64

// Ahead returns, for the running work that must end before a task of a bid with that need can start, the expected time
// in seconds that has passed and that remains: the second is the first term of Wait, or both together are if tasks
// count whole. 0 and 0 if the task fits beside it.
func (e *Exec) Ahead(now grid.Time, bid grid.Bid, need grid.Resources, law Law) (ran, rest float64) {
	if e.fits(bid, need) || len(e.running)+len(e.stopping)+e.holds == 0 {
		return 0, 0
	}
	if need.Counts != "" {
		if ran, rest = e.aheadOf(now, need.Counts, law); e.fitsPlain(bid, need) {
			return ran, rest
		}
		need.Counts = ""
		r, t := e.Ahead(now, bid, need, law)
		if t > rest {
			return r, t
		}
		return ran, rest
	}
	ends := float64(len(e.stopping))/stoppingTime + float64(e.holds)/heldTime
	fresh := ends
	for _, w := range e.running {
		m, left := e.remaining(now, w, law)
		ends += 1 / left
		fresh += 1 / max(m, 1e-6)
	}
	rest, whole := 1/ends, 1/fresh
	if e.whole {
		rest = min(rest, whole)
	}
	return max(whole-rest, 0), rest
}

// remaining is the mean of a running task's class and its expected remaining time, in seconds.
func (e *Exec) remaining(now grid.Time, w *Work, law Law) (mean, rest float64) {
	m, scv := w.class.law(law)
	age := e.age(now, w).Seconds()
	speed, _ := e.shareOf(now, w)
	return m, max(scv*m+(1-scv)*max(m-age, 0), minRemaining*m, overrun(age, m, scv), 1e-6) / max(speed, 1e-3)
}

// Done is when a task with that key would start that came now, as WaitOf has it, and when it would be done if it runs
// so many times as fast as its class, both in seconds from now.
func (e *Exec) Done(now grid.Time, key order.Key, need grid.Resources, speedup float64, law Law) (ready, done float64) {
	ready = e.WaitOf(now, key, need, law)
	return ready, ready + e.MeanOf(now, key.Class, speedup, law)/e.SpeedOf(key.Bid, need.CPU)
}

// overrun returns by how many seconds a run exceeds its mean and the tolerance.
func overrun(age, mean, scv float64) float64 { return age - mean - overrunTolerance*scv*mean }

// Mean returns the expected run time of a task of a class here, in seconds: the measured mean, or the mean age of the
// running ones if that is significantly more. So longer tasks of a class are noticed before the first of them ends.
func (e *Exec) Mean(now grid.Time, name string, law Law) float64 { return e.MeanOf(now, name, 1, law) }

// MeanOf is Mean of a task that runs so many times as fast as its class.
func (e *Exec) MeanOf(now grid.Time, name string, speedup float64, law Law) float64 {
	e.updateAges(now)
	for _, c := range e.classes {
		if c.name == name && c.speedup == speedup {
			return c.mean(law)
		}
	}
	m, _ := law(name)
	return m / speedup
}

func (c *class) mean(law Law) float64 {
	m, scv := c.law(law)
	return m + max(overrun(c.age, m, scv), 0)
}

// law is the mean run time of the class's work, and the squared coefficient of variation.
func (c *class) law(law Law) (mean, scv float64) {
	mean, scv = law(c.name)
	return mean / c.speedup, scv
}

// CountWhole makes running tasks count with the mean of their class whatever their age, as in [1].
func (e *Exec) CountWhole(on bool) { e.whole = on }

// updateAges updates the mean ages of running work.
func (e *Exec) updateAges(now grid.Time) {
	for _, c := range e.classes {
		c.age, c.runs = 0, 0
	}
	if e.whole {
		return
	}
	for _, w := range e.running {
		w.class.runs++
		w.class.age += (e.age(now, w).Seconds() - w.class.age) / float64(w.class.runs)
	}
}

// counterOf returns the counter of the finest level of a class to which an attempt belongs; of the class while there
// are many.
func (e *Exec) counterOf(w *Work) *class {
	if len(e.classes) >= maxLevelCounters {
		return e.class(w.Class, w.Spec.Speedup())
	}
	return e.class(w.Level(), w.Spec.Speedup())
}

// maxLevelCounters bounds the counters of levels: each poll goes through all.
const maxLevelCounters = 2 * keepClasses

// class returns the counter of a class and a speedup, made if there is none.
func (e *Exec) class(name string, speedup float64) *class {
	for _, c := range e.classes {
		if c.name == name && c.speedup == speedup {
			return c
		}
	}
	c := &class{name: name, speedup: speedup}
	e.classes = append(e.classes, c)
	return c
}

// dropClass removes the counter of a class without work here, so that the list stays short.
func (e *Exec) dropClass(c *class) {
	if !c.idle() || len(e.classes) <= keepClasses {
		return
	}
	for _, list := range e.lists() {
		for _, w := range list {
			if w.class == c {
				return
			}
		}
	}
	e.classes = slices.DeleteFunc(e.classes, func(d *class) bool { return d == c })
}

// keepClasses is how many idle counters are kept.
const keepClasses = 64
