package node

import (
	"slices"

	"skep/grid"
	"skep/node/replication"
)

// putTask restores the state of a task.
func (n *Node) putTask(j *job, r *grid.TaskRecord) {
	i := r.ID.Task.Index
	if i >= j.spec.Count {
		return
	}
	t := j.task(i)
	j.counts[t.state]--
	if c := r.Backup; c != nil && !c.Worker.IsZero() {
		if n.restoredBackups == nil {
			n.restoredBackups = make(map[grid.TaskID]grid.BackupRecord)
		}
		n.restoredBackups[r.ID.Task] = *c
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

// start resumes after a restart. Jobs resume in the order of submission, tasks that other nodes may hold are asked for
// when those connect, and attempts accepted here run.
func (n *Node) start(now grid.Time, fx *grid.Effects) {
	n.strayEntries = nil
	n.submissions.Start(now)
	n.worker.Start(now)
	n.discovery.Start(now)
	jobs := n.scratch.jobs[:0]
	for j := range n.jobs.All() {
		jobs = append(jobs, j)
	}
	slices.SortFunc(jobs, func(a, b *job) int {
		if a.submitted != b.submitted {
			return int(max(-1, min(1, a.submitted-b.submitted)))
		}
		return a.id.Compare(b.id)
	})
	wall := n.wall.At(now).UnixNano()
	var active []*job
	for _, j := range jobs {
		j.arrived = now - grid.Time(max(wall-j.submitted, 0))
		if j.cancelled || j.counts[grid.Ended] < j.count() {
			j.quietAt = now.Add(replication.TakeoverDelay(n.cfg.Lease))
		}
		if j.replica.Sole() && j.counts[grid.Ended] == j.count() {
			j.replica.Close()
		}
		if !j.replica.State().Done {
			active = append(active, j)
			continue
		}
		n.archiveJob(j)
		n.worker.ForgetRegistered(j.id, fx) // its owner may never come back to say so
	}
	open := make([]*replication.Replica, 0, len(active))
	for _, j := range active {
		if !j.replica.Sole() {
			open = append(open, j.replica.Replica)
		}
	}
	n.replicas.Start(open)
	for _, j := range active {
		n.resumeReplica(now, j, fx)
		s := j.replica.State()
		n.learnOwner(now, j.id, s.Epoch, s.Owner, fx) // attempts here are on disk with the owner of the time when they came
	}
	n.sortArchive()
	n.restoredBackups = nil
	n.gossip.Start(now, n.newAd(now), fx)
	n.askAttempts(now, n.cfg.Self, fx)
	n.worker.Resume(now, fx)
}

// resume gives each task of a restored job whose attempt may still exist a new lease.
func (n *Node) resume(now grid.Time, j *job, fx *grid.Effects) {
	if j.cancelled {
		return
	}
	for i, t := range j.known() {
		if t.state != grid.Offered && t.state != grid.Placed {
			continue
		}
		l := n.newLiveTask(j, i)
		l.phase = placed
		n.resumeBackup(now, l, fx)
		n.records.Start(now, &l.promise)
		n.renewLease(now, l, fx)
	}
}

// resumeBackup does so for the task's backup attempt.
func (n *Node) resumeBackup(now grid.Time, l *liveTask, fx *grid.Effects) {
	c, found := n.restoredBackups[grid.TaskID{Job: l.job.id, Index: l.index}]
	if !found {
		return
	}
	l.backup = &backupAttempt{attempt: c.Attempt, worker: c.Worker, accepted: true, deadline: n.leaseEnd(now, c.Worker), placed: l.task().placed}
	n.scheduleLease(l, fx)
}
