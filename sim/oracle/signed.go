package oracle

import (
	"skep/grid"
	"skep/node/chain"
)

// Ends of signed jobs. Whatever a node writes to its disk of how a task has ended it may show to whoever asks. So of a
// job whose origin keeps to the protocol:
//
//   - the chain of signatures from the origin to that end holds;
//   - what a worker has signed of an attempt that keeps to the protocol, too, is how that ran.

// signatures is what the books know of signed jobs.
type signatures struct {
	verifier chain.Signer                // nil = the world has no keys
	chains   map[int32]*chain.Chain      // by submission; never iterated
	ran      map[taskAttempt]grid.Result // cause and exit of attempts of signed jobs that have run; never iterated
	Checked  int                         // ends
	only     bool                        // nothing else is reported
}

// Verify has the books check the ends of signed jobs. Nothing is signed by v.
func (b *Books) Verify(v chain.Signer) { b.signed.verifier = v }

// EndsVerified is the number of ends whose signatures were checked, as often as they were written.
func (b *Books) EndsVerified() int { return b.signed.Checked }

// Ran reports how an attempt has ended on a node that keeps to the protocol, which is about to be told.
func (b *Books) Ran(task int32, a grid.Attempt, r *grid.Result) {
	if r == nil || !b.jobs[b.tasks[task].job].spec.Signed {
		return
	}
	if b.signed.ran == nil {
		b.signed.ran = make(map[taskAttempt]grid.Result)
	}
	b.signed.ran[taskAttempt{task, a}] = grid.Result{Cause: r.Cause, Exit: r.Exit}
}

// checkSigned checks the record of how a task of a signed job has ended.
func (b *Books) checkSigned(i int32, e *grid.EntryRecord) {
	n := b.job(i, e.ID.Task.Job)
	if n < 0 || b.signed.verifier == nil || e.State != grid.Ended || e.Open != nil || e.Result == nil ||
		int32(e.ID.Task.Index) >= b.jobs[n].count {
		return
	}
	j := &b.jobs[n]
	if !j.spec.Signed || b.hostile(j.origin) || b.hostile(i) {
		return
	}
	b.signed.Checked++
	k := j.first + int32(e.ID.Task.Index)
	if _, err := b.chainOf(i, n).Check(&grid.Entry{Index: e.ID.Task.Index, Attempt: e.ID.Attempt, Worker: e.Worker,
		Result: e.Result}); err != nil {
		b.failSigned(i, "records that %s has ended (%v, %d) with attempt %v, which is not proved: %v", b.taskName(k),
			e.Result.Cause, e.Result.Exit, e.ID.Attempt, err)
		return
	}
	w := b.world.Index(e.Worker)
	if w < 0 || b.hostile(w) || !chain.ByWorker(e.Result.Cause) {
		return
	}
	ran, known := b.signed.ran[taskAttempt{k, e.ID.Attempt}]
	if !known || ran.Cause != e.Result.Cause || ran.Exit != e.Result.Exit {
		b.failSigned(i, "records that %s has ended with attempt %v on n%d (%v, %d), and that attempt has not: %v, %d",
			b.taskName(k), e.ID.Attempt, w, e.Result.Cause, e.Result.Exit, ran.Cause, ran.Exit)
	}
}

// chainOf returns the chain of a signed submission, which begins with the members that its origin has chosen, with the
// changes of members that are on a node's disk. Of these, too, the signatures must hold.
func (b *Books) chainOf(i, n int32) *chain.Chain {
	c := b.signed.chains[n]
	if c == nil {
		j := &b.jobs[n]
		members := b.members(j)
		if members == nil {
			members = []grid.NodeID{b.world.ID(j.origin)}
		}
		if b.signed.chains == nil {
			b.signed.chains = make(map[int32]*chain.Chain)
		}
		c = chain.New(b.signed.verifier, grid.NodeID{}, b.world.JobID(n), j.spec, members)
		b.signed.chains[n] = c
	}
	if x := b.replicaOf(i, n); x != nil && x.rec.Set != nil && !c.Knows(x.rec.Set.Links) {
		if err := c.Follow(x.rec.Set); err != nil {
			b.failSigned(i, "keeps submission %d with members that are not proved: %v", n, err)
		}
	}
	return c
}

// OnlySigned has the books report forged ends alone: with hostile members and faults at once nothing else is promised.
func (b *Books) OnlySigned() { b.unchecked, b.signed.only = true, true }

// failSigned reports a forged end.
func (b *Books) failSigned(i int32, format string, args ...any) {
	b.unchecked = b.unchecked && !b.signed.only
	b.fail(i, format, args...)
}

func (b *Books) hostile(i int32) bool { return i >= 0 && b.machines[i].hostile }

// Hostile reports that a node does not keep to the protocol: what it writes and shows is nobody's concern.
func (b *Books) Hostile(i int32) { b.machines[i].hostile = true }
