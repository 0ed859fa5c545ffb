package oracle

import (
	"skep/grid"
)

// checkSave checks a record that becomes durable.
func (b *Books) checkSave(i int32, r *grid.Record) {
	switch r.Kind {
	case grid.RecWork:
		b.checkWork(i, r)
	case grid.RecRegister:
		if n := b.job(i, r.Register.ID); n >= 0 {
			b.jobs[n].asked.came(b.world.Time())
		}
		if b.isSole(i, r) {
			b.checkJob(i, r)
		} else {
			b.checkRegister(i, r)
		}
	case grid.RecEntry:
		b.checkMissed(i, r)
		b.checkUse(i, r)
		b.checkSigned(i, &r.Entry)
		if n := b.job(i, r.Entry.ID.Task.Job); n >= 0 && int32(r.Entry.ID.Task.Index) < b.jobs[n].count && b.isSole(i, r) {
			b.checkTask(i, r)
		}
	case grid.RecClass, grid.RecTombstone, grid.RecCheckpoint:
	default:
		b.fail(i, "saves a record of unknown kind %d", r.Kind)
	}
}

// checkJob checks the record of a job that its origin alone keeps.
func (b *Books) checkJob(i int32, r *grid.Record) {
	id := r.Register.ID
	if id.Origin != b.world.ID(i) {
		b.fail(i, "saves job %v, which was submitted elsewhere", id)
	}
	if n := b.job(i, id); n >= 0 && !r.Delete && r.Register.Spec != b.jobs[n].spec {
		b.fail(i, "saves submission %d as something else than was submitted", n)
	}
}

// checkTask checks a task's record: only its origin saves it, its attempt never goes back, and an ended task does not
// change.
func (b *Books) checkTask(i int32, r *grid.Record) {
	k := b.task(i, r.Entry.ID.Task)
	if k < 0 {
		return
	}
	t := &b.tasks[k]
	j := &b.jobs[t.job]
	if j.origin != i || !j.saved && !r.Delete {
		b.fail(i, "saves %s, whose job it has not saved", b.taskName(k))
		return
	}
	again := r.Entry.Open != nil && r.Entry.Open.IsRetry()
	switch {
	case r.Delete:
		return
	case t.State == grid.Ended && again:
	case t.State == grid.Ended && r.Entry.State == grid.Ended:
		b.fail(i, "records the end of %s twice, attempts %v and %v", b.taskName(k), t.Attempt, r.Entry.ID.Attempt)
	case t.State == grid.Ended:
		b.fail(i, "changes the record of %s, which has ended, to %v", b.taskName(k), r.Entry.State)
	case r.Entry.ID.Attempt.Less(t.Attempt):
		b.fail(i, "goes back in %s from attempt %v to %v", b.taskName(k), t.Attempt, r.Entry.ID.Attempt)
	}
	b.checkMove(i, k, &r.Entry.TaskRecord, b.taskRecord(k).Entry.TaskRecord)
	b.checkEntryRound(i, t.job, &r.Entry)
	b.storeFailure(k, &r.Entry)
	b.checkBackup(i, k, &r.Entry.TaskRecord)
	t.State, t.Attempt, t.Worker, t.Result = r.Entry.State, r.Entry.ID.Attempt, b.world.Index(r.Entry.Worker),
		r.Entry.Result.Compact()
	t.lost, t.placed, t.began, t.done = r.Entry.Lost, r.Entry.Placed, r.Entry.Began, r.Entry.Done
	t.pulls, t.moves = r.Entry.Pulls, r.Entry.Moves
	b.checkRunning(i, t.job, &r.Entry)
	b.noteEnded(i, t.job, &r.Entry)
	if t.State == grid.Ended {
		if r.Entry.Result == nil {
			b.fail(i, "records the end of %s without a result", b.taskName(k))
		}
		t.Ended = b.world.Time()
		if b.settled && b.mustEnd(j) {
			b.tasksLeft--
		}
	}
}

// checkWork checks the record of an accepted attempt: one node accepts an attempt, ever.
func (b *Books) checkWork(i int32, r *grid.Record) {
	k := b.task(i, r.Work.ID.Task)
	if k < 0 || r.Delete {
		return
	}
	t, a := &b.tasks[k], r.Work.ID.Attempt
	if h := r.Work.HandedBack; h != nil && h.Why == grid.WhyMoved {
		mark(&b.vacated, i, k, a)
	} else if h != nil {
		mark(&b.givenBack, i, k, a)
	}
	if r.Work.State == grid.WorkFinished && r.Work.Result != nil && r.Work.Result.Cause.Refused() {
		b.annul(k, a)
	}
	b.checkAcceptance(i, k, a)
	b.noteRank(k, a)
	switch {
	case t.acceptedBy < 0 || t.accepted.Less(a):
		t.acceptedBy, t.accepted = i, a
	case t.accepted == a && t.acceptedBy != i:
		b.fail(i, "accepts attempt %v of %s, which n%d has accepted", a, b.taskName(k), t.acceptedBy)
	}
}

// endless are attempts that end no task. Maps are allocated on first use.
type endless struct {
	annulled  map[taskAttempt]bool  // refused or lost
	givenBack map[taskAttempt]int32 // handed back before they started, by the node that wrote so to its disk
	vacated   map[taskAttempt]int32 // given up after they had started, by the same
	failures  map[int32]*failed     // by task: failures after which it went on; never iterated
}

// mark notes who has written that it hands an attempt back.
func mark(m *map[taskAttempt]int32, i, k int32, a grid.Attempt) {
	if *m == nil {
		*m = make(map[taskAttempt]int32)
	}
	(*m)[taskAttempt{k, a}] = i
}

// hasGivenBack reports whether a node's disk has said that an attempt never started there.
func (b *Books) hasGivenBack(i, k int32, a grid.Attempt) bool {
	by, is := b.givenBack[taskAttempt{k, a}]
	return is && by == i
}

// hasVacated reports whether a node's disk has said that it gives up an attempt that has started.
func (b *Books) hasVacated(i, k int32, a grid.Attempt) bool {
	by, is := b.vacated[taskAttempt{k, a}]
	return is && by == i
}

// annul marks an attempt as refused or lost: its result ends nothing and need not be recorded.
func (b *Books) annul(k int32, a grid.Attempt) {
	if b.annulled == nil {
		b.annulled = make(map[taskAttempt]bool)
	}
	b.annulled[taskAttempt{k, a}] = true
}
