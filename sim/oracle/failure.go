package oracle

import (
	"slices"
	"time"

	"skep/grid"
	"skep/sim/oracle/seats"
)

// Failures that are retried. Of each task the rounds of its register's entry are kept: which attempt failed in which
// round, and since when that is durable. What must hold:
//
//   - a durable round keeps its attempt, rounds follow each other, and none is forgotten;
//   - a round is open only after a failure, and no more of them than the job's rule allows;
//   - the next attempt is not started before the back-off is over;
//   - a task that is to run at most once starts once more for each durable failure, and not again.

// round is a recorded failure of a task after which it goes on.
type round struct {
	attempt grid.Attempt
	epoch   uint32    // in which it was decided last
	decided grid.Time // when an owner decided so first
	again   time.Duration
	durable bool  // committed, on a majority of the members' disks
	final   bool  // it was the last end, until a caller had the task run again
	retry   bool  // that a caller had it run again, after the end of the round before
	by      int32 // which node decided the retry last
}

// failed is what the books hold of a task that failed.
type failed struct {
	rounds   []round
	entry    grid.EntryRecord // of a job that its origin alone keeps: what the record has beside the task's state
	mostEver int              // durable rounds
	retries  int32
}

// failure returns what is held of a task that failed; it is made if need be.
func (b *Books) failure(k int32) *failed {
	f := b.failures[k]
	if f == nil {
		if b.failures == nil {
			b.failures = make(map[int32]*failed)
		}
		f = &failed{}
		b.failures[k] = f
	}
	return f
}

// durableFailures returns the number of durable ends of a task after which it went on.
func (b *Books) durableFailures(k int32) (n int) {
	f := b.failures[k]
	if f == nil {
		return 0
	}
	for _, r := range f.rounds[:f.mostEver] {
		if !r.final {
			n++
		}
	}
	return n
}

// failureRecorded reports whether an attempt's end is durable as a failure after which the task went on.
func (b *Books) failureRecorded(i, k int32, a grid.Attempt) bool {
	f, n := b.failures[k], b.tasks[k].job
	if f == nil {
		return false
	}
	for at, r := range f.rounds {
		// that it is committed may not be on a disk yet
		if r.attempt == a && (r.durable || b.jobs[n].register != 0 && b.seatsOf(i, n).Decide(b.hasFailed(n, k, at, a))) {
			return true
		}
	}
	return false
}

// decideFailures takes note of the failures that a node's step records, before they are durable.
func (b *Books) decideFailures(i int32, fx *grid.Effects) {
	for k := range fx.Saves {
		r := &fx.Saves[k]
		if r.Kind != grid.RecEntry || r.Delete || r.Entry.Open == nil {
			continue
		}
		if id := r.Entry.ID.Task; int32(id.Index) >= b.countOf(i, id.Job) { // a cancellation withdrawn, or what is used
			continue
		}
		n, v := b.task(i, r.Entry.ID.Task), r.Entry.Open
		if n < 0 {
			return
		}
		if v.IsRetry() {
			b.decideRetry(i, n, v)
			continue
		}
		rule := &b.jobs[b.tasks[n].job].spec.Rules.OnFailure
		f := b.failure(n)
		switch at := int(v.Round); {
		case at-int(v.RetriedAt) >= int(rule.Retry):
			b.fail(i, "runs %s again after failure %d, and its job allows %d", b.taskName(n), at+1, rule.Retry)
		case v.Result == nil || v.Result.Exit == 0:
			b.fail(i, "runs %s again, which succeeded", b.taskName(n))
		case at < len(f.rounds) && v.Epoch < f.rounds[at].epoch: // an owner that does not know that it has been succeeded
		case at > 0 && at <= len(f.rounds) && !f.rounds[at-1].attempt.Less(v.Attempt):
			b.fail(i, "records attempt %v as failure %d of %s, after attempt %v", v.Attempt, at+1, b.taskName(n),
				f.rounds[at-1].attempt)
		case at > len(f.rounds):
			b.fail(i, "records failure %d of %s after failure %d", at+1, b.taskName(n), len(f.rounds))
		case at < len(f.rounds) && f.rounds[at].attempt == v.Attempt:
			f.rounds[at].epoch = v.Epoch
		case at < f.mostEver:
			b.fail(i, "records attempt %v as failure %d of %s, which was attempt %v", v.Attempt, at+1, b.taskName(n),
				f.rounds[at].attempt)
		default: // what an earlier owner decided was not durable
			f.rounds = append(f.rounds[:at], round{attempt: v.Attempt, epoch: v.Epoch, decided: b.world.Time(), again: v.Again})
		}
	}
}

// checkEntryRound checks the round of an entry that becomes durable on a node's disk.
func (b *Books) checkEntryRound(i, n int32, e *grid.EntryRecord) {
	if e.ID.Task.Index >= uint32(b.jobs[n].count) || !e.Committed {
		return
	}
	k := b.jobs[n].first + int32(e.ID.Task.Index)
	f := b.failures[k]
	if f == nil {
		if e.Open != nil || e.Round > 0 {
			b.fail(i, "knows of a failure of %s that no owner has recorded", b.taskName(k))
		}
		return
	}
	if e.Open == nil {
		b.retrySucceeded(k, int(e.Round))
		// a member may be behind
		late := b.members(&b.jobs[n]) != nil && b.succeeded(k, int(e.Round))
		if at := int(e.Round); at < f.mostEver && !late || at > len(f.rounds) {
			b.fail(i, "ends %s after %d failures, and %d to %d are recorded", b.taskName(k), at, f.mostEver, len(f.rounds))
		}
		return
	}
	at := int(e.Open.Round)
	switch keep := b.seatsOf(i, n); {
	case at >= len(f.rounds) || f.rounds[at].attempt != e.Open.Attempt:
		b.fail(i, "says that attempt %v was failure %d of %s, which no owner has recorded", e.Open.Attempt, at+1,
			b.taskName(k))
	case f.rounds[at].durable:
	case keep.Members != nil && !keep.Decide(b.hasFailed(n, k, at, e.Open.Attempt)):
		b.fail(i, "says that failure %d of %s is final, which %d of %d members hold", at+1, b.taskName(k),
			seats.Count(keep.Members, b.hasFailed(n, k, at, e.Open.Attempt)), len(keep.Members))
	default:
		if f.rounds[at].durable, f.mostEver = true, at+1; f.rounds[at].retry {
			b.goOn(k)
		}
	}
}

// hasFailed reports, of a node, whether its disk has a failure of a task, or a later entry of it.
func (b *Books) hasFailed(n, k int32, round int, a grid.Attempt) func(grid.NodeID) bool {
	return func(id grid.NodeID) bool {
		x := b.replicaOf(b.world.Index(id), n)
		if b.hostile(b.world.Index(id)) {
			return true
		}
		if x == nil {
			return false
		}
		own := &x.entries[k-b.jobs[n].first]
		at, same := int(own.Round), false
		if v := own.Open; v != nil {
			at, same = int(v.Round), v.Attempt == a
		}
		return at > round || at == round && same
	}
}

// noneFailed reports whether no disk has it.
func (b *Books) noneFailed(n, k int32, round int, a grid.Attempt) bool {
	return !slices.ContainsFunc(b.everKept(n), b.hasFailed(n, k, round, a))
}

// clockSlack is the share by which a back-off may look shorter on the world's clock: those of nodes drift.
const clockSlack = 0.1

// checkBackoff checks that an attempt does not start before the back-off after the last failure is over.
func (b *Books) checkBackoff(i, k int32, a grid.Attempt) {
	f := b.failures[k]
	if f == nil || f.mostEver == 0 {
		return
	}
	r := f.rounds[f.mostEver-1]
	least := time.Duration(float64(r.again)*(1-clockSlack)) - time.Second
	if waited := b.world.Time().Sub(r.decided); r.attempt.Less(a) && waited+b.wallSteps < least {
		b.fail(i, "starts attempt %v of %s %v after it failed, and it was to wait %v", a, b.taskName(k), waited, r.again)
	}
}

// storeFailure keeps what the record of a task has beside its state, of a job that its origin alone keeps.
func (b *Books) storeFailure(k int32, e *grid.EntryRecord) {
	if e.Open == nil && e.Round == 0 {
		return
	}
	b.failure(k).entry = grid.EntryRecord{Open: e.Open, Committed: e.Committed, Held: e.Held, Round: e.Round,
		Failures: e.Failures, RetriedAt: e.RetriedAt, RetryEpoch: e.RetryEpoch}
}

// addFailure adds it to such a record.
func (b *Books) addFailure(k int32, e *grid.EntryRecord) {
	if f := b.failures[k]; f != nil && (f.entry.Open != nil || f.entry.Round > 0) {
		e.Round, e.Failures = f.entry.Round, f.entry.Failures
		e.RetriedAt, e.RetryEpoch = f.entry.RetriedAt, f.entry.RetryEpoch
		if e.State != grid.Ended {
			e.Open, e.Committed, e.Held = f.entry.Open, f.entry.Committed, f.entry.Held
		}
	}
}

// checkRunning checks that no more tasks of a job have a worker than may, by the disk of a node that has just saved
// one: of those that the node gave one itself. What an earlier owner placed is adopted as it is.
func (b *Books) checkRunning(i, n int32, e *grid.EntryRecord) {
	j := &b.jobs[n]
	most := j.spec.Rules.MaxRunning
	if most == 0 || e.State != grid.Offered {
		return
	}
	placed, x := int32(0), b.replicaOf(i, n)
	for k := range j.count {
		state, epoch := b.tasks[j.first+k].State, e.ID.Epoch
		if x != nil {
			state, epoch = x.entries[k].State, x.entries[k].ID.Epoch
		}
		if (state == grid.Offered || state == grid.Placed) && epoch == e.ID.Epoch {
			placed++
		}
	}
	if placed > most {
		b.fail(i, "offers %d tasks of submission %d at a time, of which %d may run", placed, n, most)
	}
}
