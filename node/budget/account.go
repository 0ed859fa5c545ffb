package budget

import (
	"time"

	"skep/grid"
)

// Job is what an account is told of its job.
type Job struct {
	ID      grid.JobID
	Spec    *grid.JobSpec
	Arrived grid.Time     // when it was submitted
	Every   time.Duration // a look at the account is due so often while attempts are out
	Looks   Looks
}

// Looks have the owner look at a job's account: see Account.Settle.
type Looks interface {
	Add(at grid.Time, id grid.JobID, fx *grid.Effects)
}

// Register is the job's register, which says what the job has used.
type Register interface {
	Value(i uint32) (e *grid.Entry, committed bool)
}

// Account is what the attempts of a job have used and may still use. Invariants:
//
//	runs = the number of outstanding attempts that run, and started = Σ the times since when they do
//	reserved = Σ of what the outstanding attempts were expected to take
//
// nil is the account of a job without a budget: it pays for everything.
type Account struct {
	job     Job
	budget  time.Duration
	from    grid.Time     // what was used before is in the register, as far as it is known
	opened  grid.Time     // when the account was
	heard   grid.Time     // when something was noted last
	look    grid.Time     // when the next look is due; 0 = none is
	ended   time.Duration // used by attempts that run no more
	written time.Duration // as in the register
	short   bool          // not one further attempt can be paid, and none is out

	out      map[Key]*attempt
	open     int // of out, those whose end is not counted
	runs     int
	started  grid.Time
	reserved time.Duration
}

// Key is an attempt of the job.
type Key struct {
	Index   uint32
	Attempt grid.Attempt
}

func keyOf(id grid.AttemptID) Key { return Key{id.Task.Index, id.Attempt} }

// attempt is one that is out, or whose end was counted while its owner has it still.
type attempt struct {
	made     grid.Time // its owner knows it since, or may have
	waited   grid.Time // it did not run yet
	reserved time.Duration
	since    grid.Time // while it runs
	runs     bool
	noted    bool // its worker has said something of it
	counted  bool // it is over: nothing more of it counts
}

// Open returns the account of a job, with what its register says that it has used; nil if it has no budget. wall is the
// wall time now, in Unix nanoseconds.
func Open(now grid.Time, wall int64, job Job, r Register) *Account {
	b := job.Spec.Rules.Budget
	if !b.Some() {
		return nil
	}
	a := &Account{job: job, budget: b.Time(), from: job.Arrived, opened: now, heard: now, out: make(map[Key]*attempt)}
	if last, _ := r.Value(job.Spec.UsedEntry()); last != nil {
		a.from = now - grid.Time(max(wall-last.Done, 0))
		a.ended, a.written = last.Used, last.Used
	}
	return a
}

// Used is what all attempts have used until now. The products may overflow, their difference does not.
func (a *Account) Used(now grid.Time) time.Duration {
	return a.ended + max(time.Duration(int64(a.runs)*int64(now)-int64(a.started)), 0)
}

// Exhausted reports whether nothing of the job may start or go on.
func (a *Account) Exhausted(now grid.Time) bool {
	return a != nil && (a.short || a.Used(now) >= a.budget)
}

// left is what a further attempt may use, if those that are out take what is expected of them.
func (a *Account) left(now grid.Time) time.Duration {
	return a.budget - a.ended - max(a.Used(now)-a.ended, a.reserved)
}

// Lacks reports whether a number of further attempts have to wait since the budget is not expected to pay for them, and
// why. Each is expected to take so long; 0 = that is not known. If nothing is out whose end could change that,
// the budget is exhausted.
func (a *Account) Lacks(now grid.Time, attempts int, expected time.Duration, fx *grid.Effects) (why grid.Refusal,
	lacks bool) {
	if a == nil {
		return why, false
	}
	left := a.left(now)
	if !a.Exhausted(now) && (expected == 0 && left > 0 || expected > 0 && left/time.Duration(attempts) >= expected) {
		return why, false
	}
	a.short = a.short || a.open == 0
	a.watch(now, fx)
	return grid.Refusal{Why: grid.WhyBudget, Detail: a.waits(now, expected*time.Duration(attempts))}, true
}

// watch has the owner look at the account: at once if the budget is exhausted, else while attempts are out.
func (a *Account) watch(now grid.Time, fx *grid.Effects) {
	at := now.Add(a.job.Every)
	switch {
	case a.Exhausted(now):
		at = now
	case len(a.out) == 0:
		return
	case a.runs > 0:
		at = min(at, now.Add((a.budget-a.Used(now))/time.Duration(a.runs)+1))
	}
	if a.look == 0 || at < a.look {
		a.look = max(at, 1)
		a.job.Looks.Add(at, a.job.ID, fx)
	}
}

// Known is what was used when something was noted last.
func (a *Account) Known() time.Duration { return a.Used(a.heard) }

// Reserve notes that an attempt is out that is expected to take so long; 0 = that is not known.
func (a *Account) Reserve(now grid.Time, id grid.AttemptID, expected time.Duration, fx *grid.Effects) {
	if a != nil {
		a.add(now, keyOf(id), expected)
		a.watch(now, fx)
	}
}

func (a *Account) add(made grid.Time, k Key, expected time.Duration) *attempt {
	x := a.out[k]
	if x == nil {
		x = &attempt{made: made, waited: made, reserved: expected}
		a.out[k] = x
		a.open++
		a.reserved += expected
	}
	return x
}

// Note takes what the worker of an attempt has said, and when: that it runs, or that it waits. Until its result says
// how long it ran, it counts as running since it was last known to wait. Of the time since it was noted last it was
// suspended for so long, which does not count.
func (a *Account) Note(now grid.Time, id grid.AttemptID, runs bool, stood time.Duration, fx *grid.Effects) {
	if a == nil {
		return
	}
	x := a.add(a.from, keyOf(id), 0) // it is out, unless an earlier owner made it, or this one before it was restarted
	switch {
	case x.counted:
	case runs && !x.runs:
		if x.runs, x.since = true, x.waited; x.made < a.opened && !x.noted {
			x.since = max(x.made, a.opened.Add(-ownerless*a.job.Every))
		}
		a.runs++
		a.started += x.since
	case runs:
		stood = min(stood, now.Sub(x.since))
		x.since, a.started = x.since.Add(stood), a.started.Add(stood)
	default: // if it was said to run, wrongly
		a.stop(x, now)
		x.waited = now
	}
	x.noted, a.heard = true, now
	a.watch(now, fx)
}

// ownerless is for how long attempts have run without an owner when another one takes over, in looks: a lease, and up
// to a third of one. Of an attempt that was made before, so much counts as soon as it is known to run, what it used
// since the register's entry once it ends.
const ownerless = 4

func (a *Account) stop(x *attempt, at grid.Time) {
	if !x.runs {
		return
	}
	x.runs = false
	a.runs--
	a.started -= x.since
	a.ended += max(at.Sub(x.since), 0)
}

// Ended counts an attempt that brought a result, which says how long it ran: at most for as long as it was out, since a
// worker is not trusted. Of one that was made before the account was opened at most what is not in the register counts.
func (a *Account) Ended(now grid.Time, id grid.AttemptID, ran time.Duration, fx *grid.Effects) {
	if a == nil {
		return
	}
	x := a.add(a.from, keyOf(id), 0)
	if x.counted {
		return
	}
	if x.runs { // instead of what was seen of it
		a.stop(x, x.since)
	}
	a.ended += min(max(ran, 0), max(now.Sub(x.made), 0))
	a.reserved -= x.reserved
	x.reserved, x.counted = 0, true
	a.open--
	a.heard = now
	a.watch(now, fx)
}

// Settle is the owner's look: it counts the attempts that the owner has given up since the last one, until now, if they
// ran. Their order is of no account. It returns the register's entry of what is used; nil = it need not be written.
func (a *Account) Settle(now grid.Time, wall int64, lives func(Key) bool, r Register, fx *grid.Effects) *grid.Entry {
	for k, x := range a.out {
		if !lives(k) {
			a.stop(x, now)
			a.reserved -= x.reserved
			if !x.counted {
				a.open--
			}
			delete(a.out, k)
		}
	}
	a.heard, a.look = now, 0
	a.watch(now, fx)
	last, _ := r.Value(a.job.Spec.UsedEntry())
	return a.entry(now, last, wall)
}
