package oracle

import (
	"skep/grid"
)

// checkSave checks a record that becomes durable.
func (b *Books) checkSave(i int32, r *grid.Record) {
	switch r.Kind {
	case grid.RecJob:
		if r.Job.ID.Origin != b.world.ID(i) {
			b.fail(i, "saves job %v, which was submitted elsewhere", r.Job.ID)
		}
		if n := b.job(i, r.Job.ID); n >= 0 && !r.Delete && r.Job.Spec != b.jobs[n].spec {
			b.fail(i, "saves submission %d as something else than was submitted", n)
		}
	case grid.RecTask:
		b.checkTask(i, r)
	case grid.RecWork:
		b.checkWork(i, r)
	case grid.RecRegister:
		b.checkRegister(i, r)
	case grid.RecClass, grid.RecEntry:
	default:
		b.fail(i, "saves a record of unknown kind %d", r.Kind)
	}
}

// checkTask checks a task's record: only its origin saves it, its attempt never goes back, and an ended task does not
// change.
func (b *Books) checkTask(i int32, r *grid.Record) {
	k := b.task(i, r.Task.ID.Task)
	if k < 0 {
		return
	}
	t := &b.tasks[k]
	j := &b.jobs[t.job]
	if j.origin != i || !j.saved && !r.Delete {
		b.fail(i, "saves %s, whose job it has not saved", b.taskName(k))
		return
	}
	switch {
	case r.Delete:
		return
	case t.State == grid.Ended && r.Task.State == grid.Ended:
		b.fail(i, "records the end of %s twice, attempts %v and %v", b.taskName(k), t.Attempt, r.Task.ID.Attempt)
	case t.State == grid.Ended:
		b.fail(i, "changes the record of %s, which has ended, to %v", b.taskName(k), r.Task.State)
	case r.Task.ID.Attempt.Less(t.Attempt):
		b.fail(i, "goes back in %s from attempt %v to %v", b.taskName(k), t.Attempt, r.Task.ID.Attempt)
	}
	b.checkBackup(i, k, &r.Task)
	t.State, t.Attempt, t.Worker, t.Result = r.Task.State, r.Task.ID.Attempt, b.world.Index(r.Task.Worker),
		r.Task.Result.Brief()
	t.lost, t.placed, t.began, t.done = r.Task.Lost, r.Task.Placed, r.Task.Began, r.Task.Done
	if t.State == grid.Ended {
		if r.Task.Result == nil {
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
	if r.Work.State == grid.WorkFinished && r.Work.Result != nil && r.Work.Result.Cause.Refused() {
		b.annul(k, a)
	}
	b.checkAcceptance(i, k, a)
	switch {
	case t.acceptedBy < 0 || t.accepted.Less(a):
		t.acceptedBy, t.accepted = i, a
	case t.accepted == a && t.acceptedBy != i:
		b.fail(i, "accepts attempt %v of %s, which n%d has accepted", a, b.taskName(k), t.acceptedBy)
	}
}

// annul marks an attempt as refused or lost: its result ends nothing and need not be recorded.
func (b *Books) annul(k int32, a grid.Attempt) {
	if b.annulled == nil {
		b.annulled = make(map[taskAttempt]bool)
	}
	b.annulled[taskAttempt{k, a}] = true
}
