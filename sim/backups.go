package sim

import "skep/grid"

// Backup attempts: one node accepts an attempt, ever, be it a backup or not. At most two attempts of a task are live,
// and two only if its job is idempotent; one result is recorded.

// backups are the backup attempts on the disks of origins, and which node accepted which attempt of idempotent jobs.
// Both maps are allocated on first use.
type backups struct {
	copies     map[int32]grid.BackupRecord // by task
	acceptedBy map[taskAttempt]int32
}

// checkBackup checks the backup attempt in a task's record against the record before it.
func (w *World) checkBackup(i, k int32, r *grid.TaskRecord) {
	t := &w.tasks[k]
	before, c := w.backups.copies[k], r.Backup
	made := before.Attempt
	if made.Less(t.last) {
		made = t.last
	}
	now := r.ID.Attempt
	switch {
	case !w.checkBackupPair(i, k, r):
	case now != t.last && !made.Less(now) && (now != before.Attempt || r.Worker != before.Worker):
		w.failf(i, "goes on in %s with attempt %v, which is neither new nor its second copy", w.taskName(k), now)
	case w.cfg.Work[t.job].Spec.Idempotent && now == t.last && t.worker >= 0 && w.index(r.Worker) != t.worker:
		w.failf(i, "moves attempt %v of %s from n%d to n%d", now, w.taskName(k), t.worker, w.index(r.Worker))
	case c == nil && r.State != grid.Ended && before != (grid.BackupRecord{}):
		w.failf(i, "forgets that attempt %v of %s was made", before.Attempt, w.taskName(k))
	case c != nil && c.Attempt != before.Attempt && !made.Less(c.Attempt):
		w.failf(i, "makes attempt %v of %s a second time", c.Attempt, w.taskName(k))
	case c != nil && c.Attempt == before.Attempt && c.Worker != before.Worker && !c.Worker.IsZero():
		w.failf(i, "moves attempt %v of %s", c.Attempt, w.taskName(k))
	case c == nil:
		delete(w.backups.copies, k)
	default:
		if w.backups.copies == nil {
			w.backups.copies = make(map[int32]grid.BackupRecord)
		}
		w.backups.copies[k] = *c
	}
}

// checkBackupPair checks the two attempts that a record calls live.
func (w *World) checkBackupPair(i, k int32, r *grid.TaskRecord) bool {
	spec, c := w.cfg.Work[w.tasks[k].job].Spec, r.Backup
	switch {
	case c == nil:
	case !spec.Idempotent || spec.Retries == 0:
		w.failf(i, "makes a second copy of %s, which may not run twice", w.taskName(k))
	case c.Worker.IsZero():
	case r.State == grid.Pending || r.State == grid.Ended:
		w.failf(i, "keeps a second copy of %s, which is %v", w.taskName(k), r.State)
	case !r.ID.Attempt.Less(c.Attempt) || c.Worker == r.Worker:
		w.failf(i, "has attempts %v and %v of %s, at n%d and n%d", r.ID.Attempt, c.Attempt, w.taskName(k), w.index(r.Worker), w.index(c.Worker))
	}
	return w.fail == nil
}

// checkAcceptance checks that one node accepts an attempt, ever, where several attempts of the task may be live.
func (w *World) checkAcceptance(i, k int32, a grid.Attempt) {
	if !w.cfg.Work[w.tasks[k].job].Spec.Idempotent {
		return
	}
	if w.backups.acceptedBy == nil {
		w.backups.acceptedBy = make(map[taskAttempt]int32)
	}
	if owner, was := w.backups.acceptedBy[taskAttempt{k, a}]; was && owner != i {
		w.failf(i, "accepts attempt %v of %s, which n%d has accepted", a, w.taskName(k), owner)
	}
	w.backups.acceptedBy[taskAttempt{k, a}] = i
}

// isBackup reports whether an attempt is the live backup of a task, by its origin's disk.
func (w *World) isBackup(k int32, a grid.Attempt) bool {
	c, is := w.backups.copies[k]
	return is && c.Attempt == a && !c.Worker.IsZero()
}
