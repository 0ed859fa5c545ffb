package oracle

import (
	"strings"
	"time"

	"skep/grid"
)

// Budgets of jobs. What must hold, by how long attempts really ran, without the time for which they were suspended:
//
//   - no attempt starts later than a start lease after those whose ends are recorded have used more than the budget.
//     Each takeover and each restart of the node where the job was submitted may forget a sixteenth;
//   - once faults have no consequences, none runs for long after the budget is used up;
//   - nothing is unaffordable before the budget is used, with attempts of which no end is recorded, or a later owner
//     alone has recorded it, counted for as long as they may have been out. The rest may be too little for a further
//     attempt, or for all ranks of a gang, if it is less than what the longest one of the world took;
//   - nothing of a job without a budget is unaffordable.

// use is what the attempts of a job with a budget have used.
type use struct {
	runs  []ran
	known time.Duration // used by those whose ends are recorded
	over  grid.Time     // since when that is more than the budget, and what may have been forgotten; 0 = it is not
}

// ran is an attempt of a job with a budget.
type ran struct {
	taskAttempt
	out      grid.Time // it has been on a disk since
	began    grid.Time // when it was started last
	rested   grid.Time // when it was suspended, or ended, last
	used     time.Duration
	stood    time.Duration // for so long it was suspended
	runs     bool          // and is not suspended, since
	since    grid.Time
	recorded bool   // its end is
	epoch    uint32 // of the owner that did
	stopped  bool   // or that it is to end is
}

// forgettable is the share of the budget, as its inverse, that an owner may not know of, and by which clocks may make
// it look smaller or larger.
const forgettable = 16

// longRun is how long an attempt may run after its job's budget is used up: a start lease, and a process that is told
// to end and ignores it until it is killed.
const longRun = 2 * leaseSlack

// runOf returns what is known of an attempt of a job with a budget, which is made known if it is not.
func (b *Books) runOf(k int32, a grid.Attempt) *ran {
	u := &b.jobs[b.tasks[k].job].use
	for x := range u.runs {
		if u.runs[x].taskAttempt == (taskAttempt{k, a}) {
			return &u.runs[x]
		}
	}
	u.runs = append(u.runs, ran{taskAttempt: taskAttempt{k, a}, out: b.world.Time()})
	return &u.runs[len(u.runs)-1]
}

func (b *Books) hasBudget(k int32) bool { return b.jobs[b.tasks[k].job].spec.Rules.Budget.Some() }

// noteRuns notes that an attempt begins to use its node, or uses it again after it was suspended.
func (b *Books) noteRuns(k int32, a grid.Attempt, begins bool) {
	if !b.hasBudget(k) {
		return
	}
	x, now := b.runOf(k, a), b.world.Time()
	if x.runs, x.since = true, now; begins {
		x.began = now
	} else {
		x.stood += now.Sub(x.rested)
	}
}

// noteRests notes that an attempt is suspended, or runs no more.
func (b *Books) noteRests(k int32, a grid.Attempt) {
	if !b.hasBudget(k) {
		return
	}
	x, u, now := b.runOf(k, a), &b.jobs[b.tasks[k].job].use, b.world.Time()
	if more := now.Sub(x.since); !x.runs {
		x.stood += now.Sub(x.rested)
	} else if x.used += more; x.recorded {
		u.known += more
	}
	x.runs, x.rested = false, now
}

// checkUse takes up a record about a task's attempts, and checks it.
func (b *Books) checkUse(i int32, r *grid.Record) {
	e := &r.Entry
	n := b.job(i, e.ID.Task.Job)
	if r.Delete || n < 0 || e.ID.Task.Index > uint32(b.jobs[n].count) {
		return
	}
	j, end, epoch := &b.jobs[n], e.Result, e.Epoch
	if e.Open != nil && !e.Open.IsRetry() {
		end, epoch = e.Open.Result, e.Open.Epoch
	}
	if end != nil && end.Cause == grid.Unaffordable {
		b.checkUnaffordable(i, n, end, epoch)
	}
	if !j.spec.Rules.Budget.Some() || e.ID.Task.Index == uint32(j.count) {
		return
	}
	k := j.first + int32(e.ID.Task.Index)
	if e.State == grid.Offered || e.State == grid.Placed {
		b.runOf(k, e.ID.Attempt)
		if c := e.Backup; c != nil && !c.Worker.IsZero() {
			b.runOf(k, c.Attempt)
		}
	}
	a := e.ID.Attempt
	if e.Open != nil {
		a = e.Open.Attempt
	}
	if end == nil || !e.Committed || a == (grid.Attempt{}) {
		return
	}
	if x := b.runOf(k, a); !x.recorded && !x.stopped {
		x.recorded, x.stopped, x.epoch = !end.Cause.Withdrawn(), end.Cause.Withdrawn(), epoch
		if j.use.known += x.used; x.stopped && x.runs { // it runs on until it is told to end
			j.use.known += b.world.Time().Sub(x.since)
		}
	}
}

// checkUnaffordable checks an end for want of a budget, as the owner of an epoch decides it.
func (b *Books) checkUnaffordable(i, n int32, end *grid.Result, epoch uint32) {
	j, most := &b.jobs[n], time.Duration(0)
	budget := j.spec.Rules.Budget.Time()
	if budget == 0 {
		b.fail(i, "says that submission %d, which has no budget, is unaffordable", n)
		return
	}
	for x := range j.use.runs {
		if r := &j.use.runs[x]; r.recorded && r.epoch <= epoch {
			most += r.used + r.stood
		} else {
			most += b.mayHaveRunUntil(r).Sub(r.out) + longRun
		}
	}
	if most+most/forgettable+time.Second >= budget {
		return
	}
	if !strings.Contains(end.Error, "the rest was not expected to suffice") {
		b.fail(i, "says that submission %d has used its budget, %v, and its attempts have used %v at most", n, budget, most)
		return
	}
	next := b.longest
	if j.spec.IsGang() {
		next *= time.Duration(j.count)
	}
	if with := most + next; with+with/forgettable+time.Second < budget {
		b.fail(i, "expects nothing more of submission %d, whose attempts have used %v at most of %v, and none would take "+
			"more than %v", n, most, budget, next)
	}
}

// mayHaveRunUntil is until when an attempt without a recorded end may have run as far as an owner knows. One that ended
// before all consequences of faults did is known to run no more soon after them, as is one that ends later.
func (b *Books) mayHaveRunUntil(r *ran) grid.Time {
	now := b.world.Time()
	if !b.settled || r.runs || r.rested == 0 {
		return now
	}
	return min(now, max(r.rested, b.calm))
}

// affordable is what the attempts of a job may use as far as its owner knows, after what may have been forgotten.
func (b *Books) affordable(n int32, epoch uint32) time.Duration {
	j := &b.jobs[n]
	times := time.Duration(epoch) + time.Duration(b.machines[j.origin].starts) - 1
	return j.spec.Rules.Budget.Time() * (forgettable + times) / forgettable
}

// checkBudget checks the start of an attempt.
func (b *Books) checkBudget(i, k int32, a grid.Attempt) {
	if !b.hasBudget(k) {
		return
	}
	n := b.tasks[k].job
	u := &b.jobs[n].use
	if now := b.world.Time(); u.known < b.affordable(n, a.Epoch) {
		u.over = 0
	} else if u.over == 0 {
		u.over = now
	} else if now > u.over.Add(leaseSlack) {
		b.fail(i, "starts attempt %v of %s, whose job has used %v in attempts whose ends are recorded, of %v", a,
			b.taskName(k), u.known, b.jobs[n].spec.Rules.Budget.Time())
	}
}

// checkStopped checks an attempt that runs, or has run until now: not for long after the budget of its job was used.
func (b *Books) checkStopped(i, k int32, a grid.Attempt) {
	then := b.world.Time() - grid.Time(longRun)
	if !b.settled || !b.hasBudget(k) || then < b.calm {
		return
	}
	x, n, used, epoch := b.runOf(k, a), b.tasks[k].job, time.Duration(0), uint32(0)
	for y := range b.jobs[n].use.runs {
		r := &b.jobs[n].use.runs[y]
		epoch = max(epoch, r.attempt.Epoch)
		switch {
		case r.runs: // of what was known before the last takeover nothing is supposed
			used += max(then.Sub(max(r.since, b.calm)), 0)
		case r.recorded && r.rested <= then:
			used += r.used
		}
	}
	if most := b.affordable(n, epoch); x.began < then && used > most {
		b.fail(i, "still runs attempt %v of %s, whose job had used %v of %v %v ago", a, b.taskName(k), used, most, longRun)
	}
}
