package coordinator

import (
	"cmp"
	"slices"

	"skep/grid"
	"skep/node/contract"
	"skep/node/coordinator/live"
	"skep/node/deposit"
	"skep/node/failures"
)

// Start resumes the jobs after a restart, in the order of submission. Tasks that other nodes may hold are asked for
// when those connect.
func (c *Coordinator) Start(now grid.Time, fx *grid.Effects) {
	clear(c.restoring.entries)
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
	c.kept.Start(now)
	var active []*job
	for _, j := range jobs {
		j.arrived = now - grid.Time(max(wall-j.submitted, 0))
		j.quietAt = now.Add(c.cfg.TakeoverDelay) // also one that is over: of attempts given up before nothing is on disk
		if j.replica.Sole() && j.tasks.In(grid.Ended) == j.count() {
			j.replica.Close()
		}
		if !j.replica.State().Done {
			active = append(active, j)
			continue
		}
		c.archiveJob(j, c.kept.Of(j.id).EndedBefore(wall, j.done))
		c.changed(grid.JobChange{Kind: grid.JobOver, Job: j.id}) // its owner may never come back to say so
	}
	open := make([]Register, 0, len(active))
	for _, j := range active {
		if !j.replica.Sole() {
			open = append(open, j.replica.Register)
		}
	}
	c.replicas.Start(open)
	c.replicas.StartSettling(now, c.cfg.Known, fx)
	for _, j := range active {
		c.resumeReplica(now, j, fx)
		c.watchDeadline(now, j, fx)
		s := j.replica.State()
		c.LearnOwner(now, j.id, s.Epoch, s.Owner, fx) // attempts here are on disk with the owner of the time when they came
	}
	c.sortArchive()
	c.checkpoints.Start(now, fx)
	c.restoring.backups = nil
}

// AskAttempts asks a worker that has reconnected, or this node after a restart, about the attempts that it was given.
func (c *Coordinator) AskAttempts(now grid.Time, id grid.NodeID, fx *grid.Effects) {
	var m *grid.Message
	for _, h := range c.handlesInOrder() {
		l := c.live.Get(h)
		about := l.id()
		switch {
		case (l.Phase() == live.Offered || l.Phase() == live.Placed) && l.task().Worker == id:
			c.renewLease(now, l, fx)
		case l.backup != nil && l.backup.worker == id:
			about, l.backup.deadline = l.backupID(), c.leaseEnd(now, id, c.cfg.Lease)
			c.scheduleLease(l, fx)
		default:
			continue
		}
		if m == nil || len(m.Attempts) >= grid.MaxBeats {
			m = fx.Send(id, grid.KindAsk)
		}
		m.Attempts = append(m.Attempts, about)
	}
}

// resume gives each task of a restored job whose attempt may still exist a new lease.
func (c *Coordinator) resume(now grid.Time, j *job, fx *grid.Effects) {
	if j.cancelled {
		return
	}
	for i, t := range j.tasks.Known() {
		if !hasWorker(t) {
			continue
		}
		l := c.newLiveTask(j, i)
		c.live.Accept(l)
		c.resumeBackup(now, l, fx)
		c.peers.Start(now, &l.expectation)
		c.renewLease(now, l, fx)
		if j.spec.IsGang() {
			c.adoptRank(now, j, t.Attempt, fx)
		}
	}
}

// resumeBackup does so for the task's backup attempt.
func (c *Coordinator) resumeBackup(now grid.Time, l *liveTask, fx *grid.Effects) {
	x, found := c.restoring.backups[grid.TaskID{Job: l.job.id, Index: l.index}]
	if !found {
		return
	}
	l.job.backups++
	l.backup = &backupAttempt{attempt: x.Attempt, worker: x.Worker, accepted: true, placed: l.task().Placed,
		deadline: c.leaseEnd(now, x.Worker, c.cfg.Lease)}
	l.backup.expectation.Speedup = l.job.spec.Needs.SpeedupKnown(0)
	c.scheduleLease(l, fx)
}

// RestoreRegister restores a job. Its entries may have been restored before it.
func (c *Coordinator) RestoreRegister(r *grid.RegisterRecord) {
	s := grid.RegisterState{Promised: r.Promised, VotedFor: r.VotedFor, Epoch: r.Epoch, Owner: r.Owner, Done: r.Done,
		Opened: r.Opened, Genesis: r.Genesis, Mandate: r.Mandate, Set: r.Set}
	j := c.newReplica(r.ID, r.Spec, r.Submitted, r.Members, s)
	// not on disk for jobs of others: the stored members hold until the origin contradicts them
	j.replica.membersVerified = c.isOrigin(r.ID) || r.Genesis != ""
	if r.Held {
		j.replica.HoldInputs()
		c.deposits.InputsStored(&j.replica.files)
		c.notePayer(j)
	}
	for _, e := range c.restoring.entries[r.ID] {
		c.putEntry(j, &e)
	}
	delete(c.restoring.entries, r.ID)
	if from := r.Owner; !c.isOrigin(r.ID) {
		if from.IsZero() || from == c.cfg.Self {
			from = r.ID.Origin
		}
		c.chargeJob(j, from)
	}
}

// RestoreEntry restores a task of a job. It may come before the register.
func (c *Coordinator) RestoreEntry(r *grid.EntryRecord) {
	if j := c.job(r.ID.Task.Job); j != nil {
		c.putEntry(j, r)
		c.rechargeJob(j)
		return
	}
	c.restoring.entries[r.ID.Task.Job] = append(c.restoring.entries[r.ID.Task.Job], *r)
}

func (c *Coordinator) putEntry(j *job, r *grid.EntryRecord) {
	i := r.ID.Task.Index
	r, v := failures.Recorded(j.spec, r)
	if v != nil {
		j.replica.Restore(v, r.Committed)
	}
	if i >= j.spec.Count {
		j.cancelled, _ = j.replica.Cancelled()
		return
	}
	if a, result := r.Deposited(); r.Held && result != nil && !j.replica.Sole() {
		c.deposits.OutputStored(&j.replica.files, i, a, result)
		c.notePayer(j)
		c.rechargeJob(j)
	}
	if x := r.Backup; x != nil && !x.Worker.IsZero() {
		if c.restoring.backups == nil {
			c.restoring.backups = make(map[grid.TaskID]grid.BackupRecord)
		}
		c.restoring.backups[r.ID.Task] = *x
	}
	if r.Epoch != 0 {
		c.deposits.ResultWritten(&j.replica.files, i)
	}
	t := j.tasks.Restore(r, r.Committed || j.replica.State().Done, c.isHere)
	if t.State() == grid.Ended {
		if j.done = max(j.done, t.Done); !t.Uncommitted() {
			j.Ends.Count(&t.Result)
		}
	}
}

// resumeReplica resumes a job of whose register this node is a member. As the owner it acts once a majority has
// answered; as a member it may have answered the owner just before it stopped.
func (c *Coordinator) resumeReplica(now grid.Time, j *job, fx *grid.Effects) {
	rep := j.replica
	j.quietAt = now.Add(c.cfg.TakeoverDelay)
	c.scheduleTick(now, fx)
	owns := rep.Resume(now)
	c.followRegisters(now, fx)
	if !owns {
		return
	}
	if cancelled, _ := rep.Cancelled(); cancelled {
		if rep.Sole() {
			c.endAll(now, j, fx)
			return
		}
		c.startBulkEnd(now, j, fx)
	}
	epoch := rep.State().Epoch
	if !rep.Sole() {
		c.deposits.ReplicateInputs(now, &rep.files)
	}
	if epoch > 1 {
		rep.graceUntil, rep.fullHistoryFrom = now.Add(c.cfg.Lease), epoch
	} else if !j.cancelled {
		c.enqueueJob(j)
	}
	c.peers.Arrive(now, j.level, j.spec, 0)
	c.resume(now, j, fx)
	c.countFailure(j)
}

// restoring is what is known while records are restored.
type restoring struct {
	entries map[grid.JobID][]grid.EntryRecord // whose register has not come yet
	backups map[grid.TaskID]grid.BackupRecord // backup attempts that may live
}

// mayAdopt reports whether an attempt of a rank that its worker reports may be adopted: in the takeover grace alone,
// one that the gang can have, and none older than one of another rank, or than one that was given up for a move.
func (j *job) mayAdopt(id grid.AttemptID) bool {
	return !j.spec.IsGang() || j.replica.graceUntil != 0 && id.Task.Index < j.spec.Gang.RanksOf(id.Attempt) &&
		(j.gang == nil || !id.Attempt.Less(j.gang.Attempt())) && !contract.IsOver(j.spec, j.replica, id.Attempt)
}

// RestoreCheckpoint restores a checkpoint that is kept here.
func (c *Coordinator) RestoreCheckpoint(r *grid.CheckpointRecord) {
	c.checkpoints.Restore(r, r.ID.Task.Job.Origin)
}

// sortArchive orders the archive, and the deposits of its jobs, by the jobs' ends, after a restart.
func (c *Coordinator) sortArchive() {
	c.archive.Sort(c.cfg.Self, func(x, y *archivedJob) int { return cmp.Compare(x.Open.done, y.Open.done) })
	c.deposits.Reorder(func(yield func(*deposit.Files) bool) {
		for i := range c.archive.All() {
			if j := c.archive.At(i).Open; j != nil && !yield(&j.replica.files) {
				return
			}
		}
	})
}
