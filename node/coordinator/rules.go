package coordinator

import (
	"fmt"
	"time"

	"skep/balance"
	"skep/grid"
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
	t := j.task(i)
	e := &grid.Entry{Index: i, Attempt: t.attempt, Worker: t.worker, Lost: t.lost, Result: r, Placed: t.placed,
		Began: t.began, Done: t.done, Again: again}
	if last := j.openEntry(i); last != nil {
		e.Round, e.Failures = last.Round+1, failures.Past(last)
		e.RetriedAt, e.RetryEpoch = last.RetriedAt, last.RetryEpoch
	}
	return e
}

// goOn has a task go on whose failure is committed: its worker may forget the attempt, and the next one is made when
// the back-off is over.
func (c *Coordinator) goOn(now grid.Time, j *job, i uint32, fx *grid.Effects) {
	t := j.task(i)
	t.uncommitted = false
	j.uncommitted--
	if v := j.openEntry(i); v.Attempt != t.attempt { // of a later one nothing is recorded: it may be reported
		t.attempt, t.worker, t.heldByWorker = v.Attempt, v.Worker, false
	}
	c.releaseWorker(j, i, fx)
	t.result, t.began, t.done = grid.CompactResult{}, 0, 0
	c.setState(j, i, grid.Pending, fx)
	c.saveEntry(j, i, fx)
	if j.cancelled || j.replica.withdraws(i) {
		c.end(now, j, i, j.cancelResult(), fx)
		return
	}
	if !j.inTime(now, 0) { // it was over when no other task was left
		c.miss(j)
	}
	switch rep := j.replica; {
	case rep.graceUntil != 0 || rep.bulkEnd.on: // the job is queued when that is over
	case c.skipsHeld(now, j, i, fx):
		c.holdAgain(j, i)
	default:
		if l := c.newLiveTask(j, i); !c.awaitsBackoff(now, l, fx) {
			c.retry(l)
		}
	}
}

// awaitsBackoff parks a task whose next attempt may not be made yet, and reports whether it did. The wait is never
// longer than the entry says, whatever has become of the wall clock.
func (c *Coordinator) awaitsBackoff(now grid.Time, l *liveTask, fx *grid.Effects) bool {
	v := l.job.openEntry(l.index)
	if v == nil || v.Attempt.Less(l.task().attempt) { // it was over before the attempt that followed
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
	if tr := l.task().history.Last(); tr.What != grid.TraceWait || tr.Refusal != why {
		c.trace(l.task(), grid.Trace{At: now, What: grid.TraceWait, Refusal: why})
	}
	c.parkFor(now, l, left, awaitTimer, fx)
	return true
}

// backoffLeft is how long a task waits still after a recorded failure.
func (c *Coordinator) backoffLeft(now grid.Time, open *grid.Entry) time.Duration {
	return min(open.Again-time.Duration(c.wall.At(now).UnixNano()-open.Done), open.Again)
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
	t := j.task(i)
	if j.replica.IsOwner() && (t.live != nil || t.uncommitted) && !t.attempt.Less(f.Attempt) {
		return
	}
	if t.live != nil {
		c.dropLive(t.live)
	}
	c.reopen(j, i, fx)
	t.attempt, t.worker, t.lost, t.placed = f.Attempt, f.Worker, f.Lost, f.Placed
}

// reopen makes a task pending again whose end, or attempt, does not count here any more.
func (c *Coordinator) reopen(j *job, i uint32, fx *grid.Effects) {
	t := j.task(i)
	if t.uncommitted {
		t.uncommitted = false
		j.uncommitted--
	} else if t.state == grid.Ended {
		c.tallyLater(j)
	}
	t.heldByWorker = false
	t.result, t.began, t.done = grid.CompactResult{}, 0, 0
	if t.state != grid.Pending {
		c.setState(j, i, grid.Pending, fx)
	}
}

// saveOpen adds the register's open entry to a task's record, which says how the task goes on.
func (j *job) saveOpen(e *grid.EntryRecord, v *grid.Entry, committed bool) {
	e.Open, e.Committed = v, committed
	if e.State == grid.Ended { // it goes on once the entry is committed
		e.State, e.Began, e.Done = grid.Pending, 0, 0
		if made := j.at(v.Index).backupMade; made != (grid.Attempt{}) {
			e.Backup = &grid.BackupRecord{Attempt: made}
		}
	}
	if a, _, found := j.replica.files.Output(v.Index); e.Result == nil {
		e.Held = found && a == v.Attempt || j.replica.Sole()
	}
}

// failuresOf returns what is kept of a task's recorded failures, oldest first, with the result of the last one and the
// earliest time of the next attempt, in wall time, if the task goes on and has no later end.
func (j *job) failuresOf(i uint32) (past []grid.Failure, last *grid.Result, again int64) {
	if j.endsAreFinal() {
		return nil, nil, 0
	}
	switch v, _ := j.replica.Value(i); {
	case v == nil:
		return nil, nil, 0
	case v.Open():
		if j.state(i) == grid.Pending {
			again = v.Done + int64(v.Again)
		}
		return failures.Past(v), v.Result, again
	default:
		return v.Failures, nil, 0
	}
}

// runningLimit is what a job with max_running has under way. Tasks that are polled for take a slot too, but at an offer
// only those with a worker count, and backup attempts.
type runningLimit struct {
	polling     int32
	running     int         // attempts that have started, as far as their workers have said
	backups     int32       // live backup attempts
	awaitsSlot  bool        // its untried tasks do: it is set aside
	slotWaiters []*liveTask // the others that do
}

// isFull reports whether as many tasks of the job have a worker as may.
func (j *job) isFull(under int32) bool {
	most := j.spec.Rules.MaxRunning
	return most > 0 && int32(j.counts[grid.Offered]+j.counts[grid.Placed])+j.backups+under >= most
}

// awaitsSlotNow parks a task without a worker that would be one too many, and reports whether it did. under is how many
// others are polled for.
func (c *Coordinator) awaitsSlotNow(now grid.Time, l *liveTask, under int32, fx *grid.Effects) bool {
	if !l.job.isFull(under) || l.task().state != grid.Pending {
		return false
	}
	c.waitFor(now, l, maxPause, grid.Refusal{Why: grid.WhySlots}, fx)
	return true
}

// slotFreed has a task of a job go on that waits until fewer of the job have a worker.
func (c *Coordinator) slotFreed(j *job) {
	switch {
	case j.cancelled, j.spec.Rules.MaxRunning == 0 || j.isFull(j.polling):
	case len(j.slotWaiters) > 0:
		c.resumeTask(j.slotWaiters[0])
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
