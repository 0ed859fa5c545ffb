package oracle

import (
	"skep/grid"
)

// Backup attempts: one node accepts an attempt, ever, be it a backup or not. At most two attempts of a task are live,
// and two only if its job is idempotent; one result is recorded.

// backups are the backup attempts on the disks of origins, all that were on any disk, and which node accepted which
// attempt of idempotent jobs. The maps are allocated on first use.
type backups struct {
	copies     map[int32]grid.BackupRecord // by task
	made       map[taskAttempt]bool
	acceptedBy map[taskAttempt]int32
}

// checkBackup checks the backup attempt in a task's record against the record before it.
func (b *Books) checkBackup(i, k int32, r *grid.TaskRecord) {
	t := &b.tasks[k]
	before, c := b.backups.copies[k], r.Backup
	made := before.Attempt
	if made.Less(t.Attempt) {
		made = t.Attempt
	}
	now := r.ID.Attempt
	switch {
	case !b.checkBackupPair(i, k, r):
	case now != t.Attempt && !made.Less(now) && (now != before.Attempt || r.Worker != before.Worker):
		b.fail(i, "goes on in %s with attempt %v, which is neither new nor its backup attempt", b.taskName(k), now)
	case b.jobs[t.job].spec.Idempotent && now == t.Attempt && t.Worker >= 0 && b.world.Index(r.Worker) != t.Worker:
		b.fail(i, "moves attempt %v of %s from n%d to n%d", now, b.taskName(k), t.Worker, b.world.Index(r.Worker))
	case c == nil && r.State != grid.Ended && before != (grid.BackupRecord{}):
		b.fail(i, "forgets that attempt %v of %s was made", before.Attempt, b.taskName(k))
	case c != nil && c.Attempt != before.Attempt && !made.Less(c.Attempt) && !c.Worker.IsZero():
		b.fail(i, "makes attempt %v of %s a second time", c.Attempt, b.taskName(k))
	case c != nil && c.Attempt == before.Attempt && c.Worker != before.Worker && !c.Worker.IsZero():
		b.fail(i, "moves attempt %v of %s", c.Attempt, b.taskName(k))
	case c == nil:
		delete(b.backups.copies, k)
	default:
		if b.backups.copies == nil {
			b.backups.copies = make(map[int32]grid.BackupRecord)
		}
		b.backups.copies[k] = *c
	}
}

// checkBackupPair checks the two attempts that a record calls live.
func (b *Books) checkBackupPair(i, k int32, r *grid.TaskRecord) bool {
	spec, c := b.jobs[b.tasks[k].job].spec, r.Backup
	switch {
	case c == nil:
	case !spec.Idempotent || spec.Retries == 0:
		b.fail(i, "makes a backup attempt of %s, which may not run twice", b.taskName(k))
	case c.Worker.IsZero():
	case r.State == grid.Pending || r.State == grid.Ended:
		b.fail(i, "keeps a backup attempt of %s, which is %v", b.taskName(k), r.State)
	case !r.ID.Attempt.Less(c.Attempt) || c.Worker == r.Worker:
		b.fail(i, "has attempts %v and %v of %s, at n%d and n%d", r.ID.Attempt, c.Attempt, b.taskName(k),
			b.world.Index(r.Worker), b.world.Index(c.Worker))
	default:
		if b.backups.made == nil {
			b.backups.made = make(map[taskAttempt]bool)
		}
		b.backups.made[taskAttempt{k, c.Attempt}] = true
	}
	return !b.failed
}

// checkAcceptance checks that one node accepts an attempt, ever, where several attempts of the task may be live.
func (b *Books) checkAcceptance(i, k int32, a grid.Attempt) {
	if !b.jobs[b.tasks[k].job].spec.Idempotent {
		return
	}
	if b.backups.acceptedBy == nil {
		b.backups.acceptedBy = make(map[taskAttempt]int32)
	}
	if owner, was := b.backups.acceptedBy[taskAttempt{k, a}]; was && owner != i {
		b.fail(i, "accepts attempt %v of %s, which n%d has accepted", a, b.taskName(k), owner)
	}
	b.backups.acceptedBy[taskAttempt{k, a}] = i
}

// isBackup reports whether an attempt is the live backup of a task, by its origin's disk.
func (b *Books) isBackup(k int32, a grid.Attempt) bool {
	c, is := b.backups.copies[k]
	return is && c.Attempt == a && !c.Worker.IsZero()
}
