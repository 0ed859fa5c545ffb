package oracle

import "skep/grid"

// Tasks that callers have run again after they have ended. What must hold, besides what holds of failures:
//
//   - a task that must run at most once is never run again;
//   - a durable retry is not forgotten, and one end of the task is recorded after it;
//   - no attempt is offered or starts before the retry that it follows is durable.

// decideRetry takes note of a retry that a node's step records.
func (b *Books) decideRetry(i, k int32, v *grid.Entry) {
	j, f, at := &b.jobs[b.tasks[k].job], b.failure(k), int(v.Round)
	switch {
	case j.spec.Retries == 0 && !j.spec.Rules.OnFailure.Rerun:
		b.fail(i, "runs %s again, which must run at most once", b.taskName(k))
	case at < len(f.rounds) && (v.Epoch < f.rounds[at].epoch || f.rounds[at].retry && f.rounds[at].attempt == v.Attempt):
		f.rounds[at].epoch, f.rounds[at].by = max(f.rounds[at].epoch, v.Epoch), i
		return
	case at < f.mostEver || at-1 > len(f.rounds):
		b.fail(i, "runs %s again after end %d, and %d are recorded", b.taskName(k), at, len(f.rounds))
		return
	}
	now := b.world.Time()
	f.rounds = append(f.rounds[:at-1], round{attempt: v.Attempt, epoch: v.Epoch, decided: now, durable: true, final: true},
		round{attempt: v.Attempt, epoch: v.Epoch, decided: now, again: v.Again, retry: true, by: i})
	b.retried(k)
}

// retried notes that a retry was decided, or is durable: what callers were told before of a cancel is void.
func (b *Books) retried(k int32) {
	j, f := &b.jobs[b.tasks[k].job], b.failure(k)
	j.retries, f.retries = j.retries+1, f.retries+1
	j.cancelAnswered, b.tasks[k].cancelAnswered = false, false
}

// retriesOf counts how often a retry of a task was decided, or became durable.
func (b *Books) retriesOf(k int32) int32 {
	if f := b.failures[k]; f != nil {
		return f.retries
	}
	return 0
}

// canReopen reports whether a closed register can be opened again: a majority of its members is up and has kept it.
func (b *Books) canReopen(n int32) bool {
	return b.jobs[n].register == 0 || b.newestSeats(n).Decide(func(id grid.NodeID) bool {
		i := b.world.Index(id)
		return b.up(i) && !b.buried(i, n)
	})
}

// goOn notes that a retry is durable: the end before it does not count any more. Until then who cancels may be told
// truly that nothing starts: the retry comes after that.
func (b *Books) goOn(k int32) {
	t := &b.tasks[k]
	b.retried(k)
	if t.State == grid.Ended && b.settled && b.mustEnd(&b.jobs[t.job]) {
		b.tasksLeft++
	}
	t.State = grid.Pending
}

// forgetRetries forgets, as a node starts, the retries that it has decided and that are on no disk.
func (b *Books) forgetRetries(i int32) {
	for k, f := range b.failures {
		at, r := b.lastRetry(k)
		if n := b.tasks[k].job; r != nil && r.by == i && !r.durable && b.noneFailed(n, k, at, r.attempt) {
			f.rounds = f.rounds[:at-1]
		}
	}
}

// retrySucceeded notes that a retry is durable if a majority has the end of the round after it: an owner may have ended
// the task before the retry itself was committed.
func (b *Books) retrySucceeded(k int32, next int) {
	at, r := b.lastRetry(k)
	if r == nil || r.durable || next != at+1 || !b.runsAgain(k) {
		return
	}
	r.durable, b.failures[k].mostEver = true, next
	b.goOn(k)
}

// succeeded reports whether an end of that round was the last one until a caller had the task run again.
func (b *Books) succeeded(k int32, at int) bool {
	f := b.failures[k]
	return f != nil && at < f.mostEver && f.rounds[at].final
}

// countOf returns the number of tasks of a job; −1 if it is none.
func (b *Books) countOf(i int32, id grid.JobID) int32 {
	if n := b.job(i, id); n >= 0 {
		return b.jobs[n].count
	}
	return -1
}

// lastRetry is the newest retry of a task that no durable end or retry follows; nil = there is none.
func (b *Books) lastRetry(k int32) (at int, r *round) {
	f := b.failures[k]
	if f == nil || len(f.rounds) == 0 {
		return 0, nil
	}
	if at = len(f.rounds) - 1; !f.rounds[at].retry {
		return 0, nil
	}
	return at, &f.rounds[at]
}

// runsAgain reports whether an owner may act on a retry of a task that has ended. That it is committed may not be on a
// disk yet: what the owner does leaves when it is.
func (b *Books) runsAgain(k int32) bool {
	at, r := b.lastRetry(k)
	n := b.tasks[k].job
	return r != nil && (b.jobs[n].register == 0 || b.newestSeats(n).Decide(b.hasFailed(n, k, at, r.attempt)))
}

// checkRetried checks that an attempt that leaves its owner, or starts, follows no retry that is not durable. A backup
// attempt follows the attempt whose backup it was, though its number is higher than that of the end.
func (b *Books) checkRetried(i, k int32, a grid.Attempt) {
	if _, r := b.lastRetry(k); r != nil && !r.durable && r.attempt.Less(a) && a.Epoch >= r.epoch &&
		!b.backups.made[taskAttempt{k, a}] {
		b.fail(i, "goes on with attempt %v of %s, and that it is run again is not durable", a, b.taskName(k))
	}
}
