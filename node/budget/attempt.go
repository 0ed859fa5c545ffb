package budget

import (
	"slices"
	"time"

	"skep/grid"
)

// attempt is one that is out.
type attempt struct {
	attempt  grid.Attempt
	made     grid.Time // its owner knows it since, or may have
	waited   grid.Time // it did not run yet
	reserved time.Duration
	since    grid.Time     // while it runs: when it would have begun had it never been suspended
	stood    time.Duration // it was suspended, since it was made or this account opened
	runs     bool
	noted    bool          // its worker has said something of it
	said     grid.Time     // that it runs, when it last did
	counted  bool          // it has brought a result, which its owner records: nothing more of it counts
	supposed time.Duration // what was counted of it when it was given up
}

// follow has the attempts of the changed tasks be those that are out. What was given up counts until now, if it ran;
// where the owner was stopped and has not heard of it since, until then, as it may have ended long ago.
func (a *Account) follow(now grid.Time) {
	for _, i := range a.changed {
		live := a.job.Attempts.AttemptsOf(i)
		kept := a.out[i][:0]
		for _, x := range a.out[i] {
			if slices.Contains(live[:], x.attempt) {
				kept = append(kept, x)
				continue
			}
			a.giveUp(now, i, x)
		}
		if a.out[i] = kept; len(kept) == 0 {
			delete(a.out, i)
		}
		for _, x := range live {
			if x != (grid.Attempt{}) {
				a.add(a.from, i, x, 0)
			}
		}
	}
	a.changed = a.changed[:0]
}

// giveUp takes an attempt of a task out of the account. What is supposed of it is kept until its task has a result: it
// may be taken back.
func (a *Account) giveUp(now grid.Time, task uint32, x *attempt) {
	ran, before := x.runs, a.ended
	if now < a.judged {
		a.stop(x, min(now, max(a.vouched, x.said)))
	} else {
		a.stop(x, now)
	}
	a.reserved -= x.reserved
	a.size--
	switch {
	case x.counted:
		delete(a.gone, task)
	case ran:
		x.supposed, x.waited = a.ended-before, x.since
		a.gone[task] = x
	}
}

// Has reports whether an attempt is out, as far as the account knows.
func (a *Account) Has(task uint32, x grid.Attempt) bool { return a.find(task, x) != nil }

func (a *Account) find(task uint32, x grid.Attempt) *attempt {
	if k := slices.IndexFunc(a.out[task], func(o *attempt) bool { return o.attempt == x }); k >= 0 {
		return a.out[task][k]
	}
	return nil
}

// add returns an attempt that is out. It is made now unless the account has it, or the last that ran of its task was
// given up and is taken back: what was supposed of it does not count then.
func (a *Account) add(made grid.Time, task uint32, n grid.Attempt, expected time.Duration) *attempt {
	x := a.find(task, n)
	if x == nil {
		if x = a.gone[task]; x != nil && x.attempt == n {
			a.ended -= x.supposed
			x.supposed, x.reserved = 0, expected
			delete(a.gone, task)
		} else {
			x = &attempt{attempt: n, made: made, waited: made, reserved: expected}
		}
		a.out[task] = append(a.out[task], x)
		a.size++
		a.reserved += expected
	}
	return x
}

// Reserve notes that an attempt is out that is expected to take so long; 0 = that is not known.
func (a *Account) Reserve(now grid.Time, id grid.AttemptID, expected time.Duration, fx *grid.Effects) {
	if a != nil {
		a.wake(now)
		a.add(now, id.Task.Index, id.Attempt, expected)
		a.watch(now, fx)
	}
}

// Note takes what the worker of an attempt has said, and when: that it runs, or that it waits. Until its result says
// how long it ran, it counts as running since it was last known to wait. Of the time since it was noted last it was
// suspended for so long, which does not count.
func (a *Account) Note(now grid.Time, id grid.AttemptID, runs bool, stood time.Duration, fx *grid.Effects) {
	if a == nil {
		return
	}
	a.wake(now)
	// one that is not known was made by an earlier owner, or by this one before it was restarted
	x := a.add(a.from, id.Task.Index, id.Attempt, 0)
	switch {
	case x.counted:
		return
	case runs && !x.runs:
		if x.runs, x.since = true, x.waited; x.made < a.opened && !x.noted {
			x.since = max(x.made, a.opened.Add(-ownerless*a.job.Every))
		}
		a.runs++
		a.started += x.since
	case runs:
		stood = min(stood, now.Sub(x.since))
		x.since, a.started, x.stood = x.since.Add(stood), a.started.Add(stood), x.stood+stood
	default: // if it was said to run, its start came too late: it has not
		a.stop(x, x.since)
		x.waited = now
	}
	x.noted = true
	if x.said = now; x.runs { // it takes longer than expected, and the others may still take what is expected of them
		more := max(now.Sub(x.since)-x.reserved, 0)
		x.reserved, a.reserved = x.reserved+more, a.reserved+more
	}
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

// Ended counts an attempt that brought a result, which says how long it ran, suspended or not: at most for as long as
// it was out, since a worker is not trusted, and without the time for which it was noted to be suspended. Of one that
// was made before the account was opened at most what is not in the register counts.
func (a *Account) Ended(now grid.Time, id grid.AttemptID, ran time.Duration, fx *grid.Effects) {
	if a == nil {
		return
	}
	a.wake(now)
	x := a.add(a.from, id.Task.Index, id.Attempt, 0)
	if x.counted {
		return
	}
	if x.runs { // instead of what was seen of it
		a.stop(x, x.since)
	}
	a.ended += max(min(max(ran, 0), max(now.Sub(x.made), 0))-x.stood, 0)
	a.reserved -= x.reserved
	x.reserved, x.counted = 0, true
	a.watch(now, fx)
}
