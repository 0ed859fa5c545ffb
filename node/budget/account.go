package budget

import (
	"time"

	"skep/grid"
)

// Job is what an account is told of its job.
type Job struct {
	ID       grid.JobID
	Spec     *grid.JobSpec
	Arrived  grid.Time     // when it was submitted
	Every    time.Duration // a look at the account is due so often while attempts are out
	Looks    Looks
	Attempts Attempts
}

// Looks have the owner look at a job's account: see Account.Settle.
type Looks interface {
	Add(at grid.Time, id grid.JobID, fx *grid.Effects)
}

// Attempts say which attempts of a task are out: workers have them, or may have. The second is a backup attempt; the
// zero attempt is none.
type Attempts interface {
	AttemptsOf(task uint32) [2]grid.Attempt
}

// Register is the job's register, which says what the job has used.
type Register interface {
	Value(i uint32) (e *grid.Entry, committed bool)
}

// Account is what the attempts of a job have used and may still use. Invariants:
//
//	but for tasks in changed, out holds the attempts that the owner says are out (Attempts), and no others
//	size = the number of attempts in out
//	runs = the number of them that run, and started = Σ the times since when they do
//	reserved = Σ of what they were expected to take, or have taken if that is more, of those whose end is not counted
//	while attempts are out, a look is due after Job.Every at the latest
//
// nil is the account of a job without a budget: it pays for everything.
type Account struct {
	job     Job
	budget  time.Duration
	from    grid.Time     // what was used before is in the register, as far as it is known
	opened  grid.Time     // when the account was
	look    grid.Time     // when the next look is due; 0 = none is
	judged  grid.Time     // what runs is not judged before: see slept
	vouched grid.Time     // until then its owner knows what ran, before it was stopped
	stopped int           // how often the owner was in a row without having judged what had used the budget up
	ended   time.Duration // used by attempts that run no more
	written time.Duration // as in the register
	closed  bool          // not one further attempt can be paid: see Close
	changed []uint32      // tasks of which attempts may have been made or given up since the last Settle

	out      map[uint32][]*attempt // by task
	gone     map[uint32]*attempt   // by task: the last that ran and was given up, until the task has a result
	size     int
	runs     int
	started  grid.Time
	reserved time.Duration
}

// Open returns the account of a job, with what its register says that it has used, and with its attempts that are out;
// nil if it has no budget. wall is the wall time now, in Unix nanoseconds. The first Settle follows it.
func Open(now grid.Time, wall int64, job Job, r Register) *Account {
	b := job.Spec.Rules.Budget
	if !b.Some() {
		return nil
	}
	a := &Account{job: job, budget: b.Time(), from: job.Arrived, opened: now, out: make(map[uint32][]*attempt),
		gone: make(map[uint32]*attempt)}
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
	switch {
	case a == nil:
		return false
	case a.closed || a.ended >= a.budget:
		return true
	}
	return a.Used(now) >= a.budget && !a.slept(now)
}

// silence is for how long an owner that was stopped hears the workers before it judges what runs, in looks: they say
// once in a look what they have, and repeat results.
const silence = 2

// mostStopped is how often in a row an owner that was stopped hears the workers first: one that is stopped again and
// again, as in a machine that runs in bursts, judges what runs at the next look.
const mostStopped = 2

// slept reports whether the owner was stopped until just now, as a machine that sleeps is, since a look is overdue by
// more than another one. Then what runs, as far as it knows, may have ended long ago.
func (a *Account) slept(now grid.Time) bool {
	return now < a.judged || a.look != 0 && now > a.look.Add(a.job.Every)
}

// wake is called as soon as the owner does anything about attempts.
func (a *Account) wake(now grid.Time) {
	if now < a.judged || !a.slept(now) {
		return
	}
	a.vouched = a.look
	if a.look = 0; a.Used(now) >= a.budget {
		a.stopped++
	}
	if a.stopped <= mostStopped {
		a.judged = now.Add(silence * a.job.Every)
	}
}

// left is what a further attempt may use, if those that are out take what is expected of them.
func (a *Account) left(now grid.Time) time.Duration {
	return a.budget - a.ended - max(a.Used(now)-a.ended, a.reserved)
}

// Pays reports whether a number of further attempts may be made, each of which is expected to take so long; 0 = that is
// not known. What waits since they may not has to be looked at again after each Settle.
func (a *Account) Pays(now grid.Time, attempts int, expected time.Duration) bool {
	if a == nil {
		return true
	}
	a.follow(now)
	left := a.left(now)
	return !a.Exhausted(now) && left > 0 && left/time.Duration(attempts) >= expected
}

// PaysInstead reports whether so many attempts may be made in the place of all that are out, if each is expected to
// take so long.
func (a *Account) PaysInstead(now grid.Time, attempts int, expected time.Duration) bool {
	if a == nil {
		return true
	}
	a.follow(now)
	return !a.Exhausted(now) && (a.budget-a.Used(now))/time.Duration(max(attempts, 1)) >= expected
}

// Refusal says why attempts wait that the budget does not pay for and that are expected to take so long together.
func (a *Account) Refusal(now grid.Time, expected time.Duration) grid.Refusal {
	return grid.Refusal{Why: grid.WhyBudget, Detail: a.waits(now, expected)}
}

// Close exhausts the budget: nothing is out whose end could leave more of it, and what waits is not paid.
func (a *Account) Close() { a.closed = true }

// Written notes that an entry of Settle is in the register.
func (a *Account) Written(e *grid.Entry) { a.written = e.Used }

// Closed reports whether the budget was exhausted by Close.
func (a *Account) Closed() bool { return a.closed }

// Out is the number of attempts that are out, as of the last Settle.
func (a *Account) Out() int { return a.size }

// Changed notes that attempts of a task may have been made or given up. It reports whether that is the first change
// since the last Settle, which the owner makes before it takes its next decision.
func (a *Account) Changed(task uint32) (first bool) {
	a.changed = append(a.changed, task)
	return len(a.changed) == 1
}

// Settle follows the changes: attempts that were given up count until now, if they ran. It returns the register's entry
// of what is used; nil = it need not be written. No further look is due once the budget is exhausted: the owner ends
// what is out. Of a job that is over, which may be opened again, all that is used is to be written.
func (a *Account) Settle(now grid.Time, wall int64, r Register, over bool, fx *grid.Effects) *grid.Entry {
	a.wake(now)
	a.follow(now)
	if now >= a.look {
		a.look = 0
	}
	if !a.Exhausted(now) {
		a.watch(now, fx)
	}
	last, _ := r.Value(a.job.Spec.UsedEntry())
	if over {
		return a.entry(now, last, wall, 1)
	}
	return a.entry(now, last, wall, a.budget/writtenShare)
}

// watch has the owner look at the account: at once if the budget is exhausted, else while attempts are out.
func (a *Account) watch(now grid.Time, fx *grid.Effects) {
	at := now.Add(a.job.Every)
	if a.Used(now) < a.budget {
		a.stopped = 0
	}
	switch {
	case a.size == 0 || a.closed:
		return
	case a.slept(now):
		at = min(at, a.judged)
	case a.Exhausted(now):
		at = now
	case a.runs > 0:
		at = min(at, now.Add((a.budget-a.Used(now))/time.Duration(a.runs)+1))
	}
	if a.look == 0 || a.look < now || at < a.look { // else one is due before
		a.look = max(at, 1)
		a.job.Looks.Add(at, a.job.ID, fx)
	}
}
