package node

import (
	"slices"

	"skep/grid"
	"skep/node/replication"
)

// putTask restores the state of a task.
func (c *coordinator) putTask(j *job, r *grid.TaskRecord) {
	i := r.ID.Task.Index
	if i >= j.spec.Count {
		return
	}
	t := j.task(i)
	j.counts[t.state]--
	if x := r.Backup; x != nil && !x.Worker.IsZero() {
		if c.restoredBackups == nil {
			c.restoredBackups = make(map[grid.TaskID]grid.BackupRecord)
		}
		c.restoredBackups[r.ID.Task] = *x
	}
	*t = task{state: r.State, attempt: r.ID.Attempt, worker: r.Worker, lost: r.Lost, result: r.Result.Brief(),
		placed: r.Placed, began: r.Began, done: r.Done}
	if r.Backup != nil {
		t.backupMade = r.Backup.Attempt
	}
	j.counts[t.state]++
	if t.state == grid.Ended {
		j.done = max(j.done, t.done)
		if r.Result != nil && r.Result.Exit != 0 {
			j.failed++
			j.exit = max(j.exit, r.Result.Exit)
		}
	}
}

// start resumes the jobs after a restart, in the order of submission. Tasks that other nodes may hold are asked for when
// those connect.
func (c *coordinator) start(now grid.Time, fx *grid.Effects) {
	c.strayEntries = nil
	jobs := c.scratch.jobs[:0]
	for j := range c.jobs.All() {
		jobs = append(jobs, j)
	}
	slices.SortFunc(jobs, func(a, b *job) int {
		if a.submitted != b.submitted {
			return int(max(-1, min(1, a.submitted-b.submitted)))
		}
		return a.id.Compare(b.id)
	})
	wall := c.wall.At(now).UnixNano()
	var active []*job
	for _, j := range jobs {
		j.arrived = now - grid.Time(max(wall-j.submitted, 0))
		if j.cancelled || j.counts[grid.Ended] < j.count() {
			j.quietAt = now.Add(replication.TakeoverDelay(c.cfg.Lease))
		}
		if j.replica.Sole() && j.counts[grid.Ended] == j.count() {
			j.replica.Close()
		}
		if !j.replica.State().Done {
			active = append(active, j)
			continue
		}
		c.archiveJob(j)
		c.worker.ForgetRegistered(j.id, fx) // its owner may never come back to say so
	}
	open := make([]*replication.Replica, 0, len(active))
	for _, j := range active {
		if !j.replica.Sole() {
			open = append(open, j.replica.Replica)
		}
	}
	c.replicas.Start(open)
	for _, j := range active {
		c.resumeReplica(now, j, fx)
		s := j.replica.State()
		c.learnOwner(now, j.id, s.Epoch, s.Owner, fx) // attempts here are on disk with the owner of the time when they came
	}
	c.sortArchive()
	c.restoredBackups = nil
}

// resume gives each task of a restored job whose attempt may still exist a new lease.
func (c *coordinator) resume(now grid.Time, j *job, fx *grid.Effects) {
	if j.cancelled {
		return
	}
	for i, t := range j.known() {
		if t.state != grid.Offered && t.state != grid.Placed {
			continue
		}
		l := c.newLiveTask(j, i)
		c.live.become(l, placed)
		c.resumeBackup(now, l, fx)
		c.records.Start(now, &l.promise)
		c.renewLease(now, l, fx)
	}
}

// resumeBackup does so for the task's backup attempt.
func (c *coordinator) resumeBackup(now grid.Time, l *liveTask, fx *grid.Effects) {
	x, found := c.restoredBackups[grid.TaskID{Job: l.job.id, Index: l.index}]
	if !found {
		return
	}
	l.backup = &backupAttempt{attempt: x.Attempt, worker: x.Worker, accepted: true, deadline: c.leaseEnd(now, x.Worker), placed: l.task().placed}
	c.scheduleLease(l, fx)
}
