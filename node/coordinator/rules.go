package coordinator

import (
	"fmt"
	"time"

	"skep/balance"
	"skep/grid"
	"skep/node/coordinator/live"
	"skep/node/dependency"
	"skep/node/failures"
)

// Tasks that are run again after a recorded failure (package failures). Such an end is recorded like any other, as an
// open entry of the job's register:
//
//	placed ── failed ──► ended, not committed ── committed, the worker is told ──► pending: no attempt before
//	   ▲                                                                           Done + Again of the entry
//	   └──────────────────────── next attempt, of a higher number ◄────────────────────────┘
//
// The register holds the number of failures and the time of the next attempt, so a new owner goes on with both. It
// makes no attempt before the open entry is committed in its own epoch: it has no quorum lease before. Invariants:
//
//   - an attempt is made only if the entry of the end before it is committed;
//   - an attempt whose end is in the register is never adopted or recorded again;
//   - an entry that is not open is the last one.

// endAttempt records the end of a task's attempt: the task has ended, or is run again.
func (c *Coordinator) endAttempt(now grid.Time, l *liveTask, r *grid.Result, fx *grid.Effects) {
	j, round := l.job, uint32(0)
	if j.spec.IsGang() {
		c.rankEnded(now, l, r, fx)
		return
	}
	if v := j.openEntry(l.index); v != nil {
		round = v.Round + 1 - v.RetriedAt // since the last retry by a caller
	}
	after, again := failures.Again(&j.spec.Rules.OnFailure, grid.TaskID{Job: j.id, Index: l.index}, round, r)
	if !again || j.cancelled || !j.inTime(now, after) {
		c.end(now, j, l.index, r, fx)
		return
	}
	c.stats.Retried++
	c.recordEnd(now, j, l.index, r, after, fx)
}

// openEntry returns the entry of a task's last failure, after which it goes on; nil = there is none.
func (j *job) openEntry(i uint32) *grid.Entry {
	if v, _ := j.replica.Value(i); v != nil && v.Open() {
		return v
	}
	return nil
}

// newEntry makes the register's entry of a task's end, after which another attempt follows if again is not 0.
func (j *job) newEntry(i uint32, r *grid.Result, again time.Duration) *grid.Entry {
	t := j.tasks.At(i)
	e := &grid.Entry{Index: i, Attempt: t.Attempt, Worker: t.Worker, Lost: t.Lost, Result: r, Placed: t.Placed,
		Began: t.Began, Done: t.Done, Again: again}
	if last := j.openEntry(i); last != nil {
		e.Round, e.Failures = last.Round+1, failures.Past(last)
		e.RetriedAt, e.RetryEpoch = last.RetriedAt, last.RetryEpoch
	}
	return e
}

// goOn has a task go on whose failure is committed: its worker may forget the attempt, and the next one is made when
// the back-off is over.
func (c *Coordinator) goOn(now grid.Time, j *job, i uint32, fx *grid.Effects) {
	t := j.tasks.At(i)
	j.tasks.Commit(i)
	if v := j.openEntry(i); v.Attempt != t.Attempt { // of a later one nothing is recorded: it may be reported
		t.Attempt, t.Worker, t.Held = v.Attempt, v.Worker, false
	}
	c.releaseWorker(j, i, fx)
	t.Unend()
	c.setState(j, i, grid.Pending, fx)
	c.saveEntry(j, i, fx)
	if j.cancelled || j.replica.callers.Withdraws(i) {
		c.end(now, j, i, j.cancellation().Result(), fx)
		return
	}
	if !j.inTime(now, 0) { // it was over when no other task was left
		c.miss(j)
	}
	switch rep := j.replica; {
	case rep.graceUntil != 0 || rep.bulkEnd.On(): // the job is queued when that is over
	case c.skipsHeld(now, j, i, fx):
		c.holdAgain(j, i)
	default:
		if l := c.newLiveTask(j, i); !c.awaitsBackoff(now, l, fx) {
			c.retry(l)
		}
	}
}

// awaitsBackoff parks a task whose next attempt may not be made yet, and reports whether it did.
func (c *Coordinator) awaitsBackoff(now grid.Time, l *liveTask, fx *grid.Effects) bool {
	v := l.job.openEntry(l.index)
	if v == nil || v.Attempt.Less(l.task().Attempt) { // it was over before the attempt that followed
		return false
	}
	if l.pauseUntil == 0 {
		l.pauseUntil = now.Add(c.backoffLeft(now, v))
	}
	left := l.pauseUntil.Sub(now)
	if left <= 0 {
		return false
	}
	why := grid.Refusal{Why: grid.WhyBackoff, Detail: fmt.Sprintf("exit %d, attempt %d of %d", v.Result.Exit, v.Round+1,
		l.job.spec.Rules.OnFailure.Retry+1)}
	c.traceWait(now, l.task(), why)
	c.parkFor(now, l, left, live.ForTimer, fx)
	return true
}

// backoffLeft is for how long a task waits still after a recorded failure.
func (c *Coordinator) backoffLeft(now grid.Time, open *grid.Entry) time.Duration {
	return failures.Left(open, c.wall.At(now).UnixNano())
}

// isRecorded reports whether an attempt's end is in the register as a failure after which the task went on, and whether
// that is committed.
func (j *job) isRecorded(id grid.AttemptID) (recorded, committed bool) {
	v := j.openEntry(id.Task.Index)
	if v == nil || v.Attempt.Less(id.Attempt) && id.Epoch >= v.RetryEpoch {
		return false, false
	}
	_, committed = j.replica.Value(id.Task.Index)
	return true, committed
}

// applyOpen copies an open entry of the register into the job: the task goes on. An owner that renews its epoch has
// gone on with it already, or is about to when it is committed.
func (c *Coordinator) applyOpen(j *job, i uint32, f *grid.Entry, fx *grid.Effects) {
	t := j.tasks.At(i)
	if j.replica.IsOwner() && (t.Live != nil || t.Uncommitted()) && !t.Attempt.Less(f.Attempt) {
		return
	}
	if t.Live != nil {
		c.dropLive(t.Live)
	}
	c.reopen(j, i, fx)
	t.Attempt, t.Worker, t.Lost, t.Placed = f.Attempt, f.Worker, f.Lost, f.Placed
}

// reopen makes a task pending again whose end, or attempt, does not count here any more.
func (c *Coordinator) reopen(j *job, i uint32, fx *grid.Effects) {
	t := j.tasks.At(i)
	if !j.tasks.Commit(i) && t.State() == grid.Ended {
		c.tallyLater(j)
	}
	t.Held = false
	t.Unend()
	if t.State() != grid.Pending {
		c.setState(j, i, grid.Pending, fx)
	}
}

// failuresOf returns what is kept of a task's recorded failures, oldest first, with the result of the last one and the
// earliest time of the next attempt, in wall time, if the task goes on and has no later end.
func (j *job) failuresOf(i uint32) (past []grid.Failure, last *grid.Result, again int64) {
	if j.endsAreFinal() {
		return nil, nil, 0
	}
	v, _ := j.replica.Value(i)
	if v == nil {
		return nil, nil, 0
	}
	return failures.Kept(v, j.tasks.State(i) == grid.Pending)
}

// runningLimit is what a job with max_running has under way. Tasks that are polled for take a slot too, but at an offer
// only those with a worker count, and backup attempts.
type runningLimit struct {
	backups    int32 // live backup attempts
	awaitsSlot bool  // its untried tasks do, or await what its budget leaves: it is set aside
}

// isFull reports whether as many tasks of the job have a worker as may.
func (j *job) isFull(under int32) bool {
	most := j.spec.Rules.MaxRunning
	return most > 0 && int32(j.tasks.Out())+j.backups+under >= most
}

// awaitsSlotNow parks a task without a worker that would be one too many, and reports whether it did. under is how many
// others are polled for.
func (c *Coordinator) awaitsSlotNow(now grid.Time, l *liveTask, under int32, fx *grid.Effects) bool {
	if !l.job.isFull(under) || l.task().State() != grid.Pending {
		return false
	}
	c.waitFor(now, l, maxPause, grid.Refusal{Why: grid.WhySlots}, fx)
	return true
}

// slotFreed has a task of a job go on that waits until fewer of the job have a worker: a task may have one no more.
func (c *Coordinator) slotFreed(j *job, i uint32) {
	switch c.attemptsChanged(j, i); {
	case j.cancelled, j.spec.Rules.MaxRunning == 0 || j.isFull(j.live.Polling()):
	case len(j.live.AwaitingSlot()) > 0:
		c.resumeTask(j.live.AwaitingSlot()[0])
	case j.awaitsSlot:
		j.awaitsSlot = false
		c.requeueJob(j)
	}
}

// vainLosses returns the losses of a task or gang that count for its back-off: one that got beyond the checkpoint that
// it began from was not lost for a reason of its own, so its earlier losses do not count.
func (c *Coordinator) vainLosses(j *job, i uint32, lost int32) int32 {
	if c.checkpoints.Advanced(j.spec, j.attempt(i)) {
		return 1
	}
	return lost
}

// pays reports whether a task may go to a node that asks for work, as far as its policy goes by prices.
func (c *Coordinator) pays(l *liveTask, s *balance.State) bool {
	p, is := c.policyOf(l.job).(balance.Trader)
	return !is || p.Pays(l.job.spec.Bid(), s)
}

// isHeld reports whether no task of the job may be placed yet.
func (j *job) isHeld() bool { return dependency.Held(j.spec, j.replica) }

// holds reports whether a task may not be placed yet.
func (j *job) holds(i uint32) bool { return dependency.Holds(j.spec, j.replica, i) }

// whyUntried is why nothing was done with a pending task yet.
func (j *job) whyUntried(i uint32) grid.Why {
	switch {
	case j.holds(i):
		return grid.WhyAfter
	case j.awaitsSlot:
		return j.limit()
	}
	return grid.WhyNone
}
