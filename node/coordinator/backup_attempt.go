package coordinator

import (
	"skep/balance"
	"skep/grid"
	"skep/node/dependency"
	"skep/node/failures"
)

// backupAttempt is the second attempt of a task that already runs, of idempotent jobs only. It has its own worker and
// lease. Its number is higher than the primary's, so to a worker it is an ordinary attempt. The first successful
// result of either ends the task, and the other attempt is dropped. A backup that fails or is lost counts against its
// node, not against the task. After one of the two has failed there is no further backup, or the task would never end.
type backupAttempt struct {
	attempt     grid.Attempt
	worker      grid.NodeID
	option      uint8 // of the job, as which it runs
	accepted    bool
	sent        grid.Time // when it was last offered
	deadline    grid.Time // of its attempt lease
	placed      int64
	expectation grid.Expectation
}

// backupWorker is the worker of a task's backup attempt; zero = it has none.
func (j *job) backupWorker(i uint32) (worker grid.NodeID) {
	if i < j.spec.Count && j.at(i).Live != nil && j.at(i).Live.backup != nil {
		worker = j.at(i).Live.backup.worker
	}
	return worker
}

// backupOf returns the live task whose backup attempt is id, if from is its worker.
func (c *Coordinator) backupOf(from grid.NodeID, id grid.AttemptID) *liveTask {
	l := c.liveTask(id.Task)
	if l == nil || l.backup == nil || l.backup.attempt != id.Attempt || l.backup.worker != from {
		return nil
	}
	return l
}

// proves reports whether a result is signed by its worker, if it is that of an attempt which would count.
func (c *Coordinator) proves(j *job, from grid.NodeID, id grid.AttemptID, r *grid.Result) bool {
	t := j.at(id.Task.Index)
	if c.backupOf(from, id) == nil && (t.Attempt != id.Attempt || t.Worker != from) {
		return true
	}
	return j.replica.Proves(from, id, r)
}

func (l *liveTask) backupID() grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Job: l.job.id, Index: l.index}, Attempt: l.backup.attempt}
}

// startBackup makes a backup attempt on the chosen node; why is "" if the policy has chosen.
func (c *Coordinator) startBackup(now grid.Time, l *liveTask, x balance.Choice, why string, fx *grid.Effects) {
	t := l.task()
	t.Backup = t.Next(l.job.replica.State().Epoch)
	b := &backupAttempt{attempt: t.Backup, worker: x.Node, placed: c.wall.At(now).UnixNano()}
	b.option = l.Poll.Option(now, x, c.need(now, l))
	b.expectation.Made, b.expectation.Speedup, l.backup = now, l.job.spec.Needs.SpeedupOf(b.option), b
	l.job.backups++
	c.peers.Start(now, &b.expectation)
	c.stats.Backups++
	c.peers.Probe(now, l.class(), x.Node)
	c.trace(t, grid.Trace{At: now, What: grid.TraceCopied, Node: x.Node, ECT: grid.Seconds(x.ECT),
		Refusal: grid.Refusal{Detail: why}})
	c.policies.Note(balance.Outcome{Kind: balance.Placed, At: now, Node: x.Node, Class: l.request.Class})
	c.saveEntry(l.job, l.index, fx)
	c.countPlaced(x.Node)
	c.peers.Given(now, &b.expectation, l.level(), x.Node, x.ECT)
	l.job.account.Reserve(now, l.backupID(), c.expectedUse(l.job, l.index, l.level(), b.expectation.Speedup), fx)
	b.deadline = c.leaseEnd(now, x.Node, c.cfg.Lease)
	c.scheduleLease(l, fx)
	c.sendBackupOffer(now, l, fx)
}

// sendBackupOffer sends or repeats the offer of the backup attempt.
func (c *Coordinator) sendBackupOffer(now grid.Time, l *liveTask, fx *grid.Effects) {
	b := l.backup
	b.sent = now
	if c.mayAct(now, l.job) { // without the quorum lease the offer is only repeated later
		o := c.backupOffer(l, l.backupID())
		o.Stamp, o.Option = c.peers.Stamp(now, b.worker), b.option
		l.job.vouch(o, b.worker)
		fx.Send(b.worker, grid.KindOffer).Offer = *o
	}
	c.wakeForOffer(now, l, b.worker, fx)
}

// backupOffer returns the offer of a backup attempt. Its age is zero, so that it gets no priority in the worker's
// queue: the task runs already.
func (c *Coordinator) backupOffer(l *liveTask, id grid.AttemptID) *grid.Offer {
	return &grid.Offer{ID: id, Spec: l.job.spec, Class: l.class(), Lease: c.cfg.Lease,
		Stays: true, Inputs: dependency.Inputs(l.job.spec, l.job.replica, l.index)}
}

// backupAccepted records that the worker accepted the backup attempt, and renews its lease.
func (c *Coordinator) backupAccepted(now grid.Time, l *liveTask, fx *grid.Effects) {
	b := l.backup
	if !b.accepted {
		b.accepted, b.expectation.Accepted = true, true
		c.discovery.Tried(now, b.worker, &l.job.spec.Needs, l.job.spec.Engine, true, fx)
		c.traceAccepted(now, l.task(), b.worker)
	}
	b.deadline = max(b.deadline, c.leaseEnd(now, b.worker, c.cfg.Lease))
	l.job.account.Note(now, l.backupID(), true, 0, fx) // it may wait there: then too much is counted
}

// backupTimer handles the task's timers for its backup attempt.
func (c *Coordinator) backupTimer(now grid.Time, k grid.TimerKind, l *liveTask, fx *grid.Effects) {
	b := l.backup
	switch {
	case k == grid.TimerOffer && !b.accepted && now >= b.sent.Add(c.cfg.Lease/4):
		c.sendBackupOffer(now, l, fx)
	// an owner without quorum lease gives up no attempt
	case k == grid.TimerLease && now >= b.deadline && !c.mayAct(now, l.job):
		b.deadline = c.leaseEnd(now, b.worker, c.cfg.Lease)
	case k == grid.TimerLease && now >= b.deadline:
		c.dropBackup(now, l, grid.Refusal{Why: grid.WhySilent}, true, fx)
	}
	if k == grid.TimerLease && l.backup != nil {
		c.scheduleLease(l, fx)
	}
}

// dropBackup removes the backup attempt without a message to its worker: it is lost, or its worker does not have it.
func (c *Coordinator) dropBackup(now grid.Time, l *liveTask, why grid.Refusal, lost bool, fx *grid.Effects) {
	b := l.backup
	c.startsPossible(now, l.job, b.worker)
	c.attemptReturned(now, &b.expectation, b.worker, false)
	if lost {
		c.countLost(now, l, &b.expectation, b.worker, why)
		c.countLostAttempt(l, b.worker, why)
		l.PreferOthers(b.worker, why, now.Add(c.cfg.Lease))
	} else {
		c.policies.Note(balance.Outcome{Kind: balance.Refused, At: now, Node: b.worker, Class: l.request.Class})
		c.excludeRefusing(now, l, b.worker, why)
	}
	c.forgetBackup(l)
	c.saveEntry(l.job, l.index, fx)
	c.backups.due = true
}

// countLostAttempt counts a lost attempt while the other one lives. It costs the task no retry. After more such losses
// than retries, or failures on Config.Strikes nodes, the task gets no further backup: a task that kills its nodes
// would kill them for ever.
func (c *Coordinator) countLostAttempt(l *liveTask, worker grid.NodeID, why grid.Refusal) {
	l.lostBesideBackup++
	l.noBackup = c.countFailedNode(l, worker, why) != "" || l.lostBesideBackup > l.job.spec.Retries || l.noBackup
}

// dropAttempt drops one of a task's two attempts at its worker.
func (c *Coordinator) dropAttempt(now grid.Time, l *liveTask, worker grid.NodeID, id grid.AttemptID, fx *grid.Effects) {
	if l.job.barrier == nil { // a cancel barrier instead lists this attempt and waits for it
		c.startsPossible(now, l.job, worker)
	}
	m := fx.About(worker, grid.KindDrop)
	m.Attempts = append(m.Attempts, id)
}

// promoteBackup makes the backup attempt the task's primary. The caller has finished with the old primary.
func (c *Coordinator) promoteBackup(now grid.Time, l *liveTask, fx *grid.Effects) {
	t, b := l.task(), l.backup
	c.dequeue(l)
	c.live.Release(l)
	t.Attempt, t.Worker, t.Placed, t.Option = b.attempt, b.worker, b.placed, b.option
	l.expectation, l.Sent, l.deadline, l.backup = b.expectation, b.sent, b.deadline, nil
	l.asked, l.outage = false, false
	l.job.backups--
	l.forgetResult()
	if b.accepted {
		c.live.Accept(l)
		c.setState(l.job, l.index, grid.Placed, fx)
	} else {
		c.live.Offer(l)
		c.setState(l.job, l.index, grid.Offered, fx)
	}
	c.saveEntry(l.job, l.index, fx)
	c.scheduleLease(l, fx)
	c.backups.due = true
}

// askWorker asks the worker of a promoted attempt for its result: it may have come while the files of the old primary's
// result were fetched.
func (c *Coordinator) askWorker(l *liveTask, fx *grid.Effects) {
	m := fx.About(l.task().Worker, grid.KindAsk)
	m.Attempts = append(m.Attempts, l.id())
}

// backupEnded takes the result of a backup attempt and reports whether it ends the task: then the backup becomes the
// primary and the old primary is dropped. While the primary's result waits for its files, this one is ignored; its
// worker repeats it, or is asked for it.
func (c *Coordinator) backupEnded(now grid.Time, l *liveTask, from grid.NodeID, id grid.AttemptID, r *grid.Result,
	fx *grid.Effects) bool {
	t := l.task()
	switch {
	case !r.Succeeded():
		l.job.account.Ended(now, id, r.Wall, fx)
		c.releaseAttempt(from, id, t, fx)
		c.peers.Ended(now, l.class(), from, r)
		l.noBackup = l.noBackup || r.Cause != grid.Lost
		c.dropBackup(now, l, failures.GivenUp(r), r.Cause == grid.Lost, fx)
		return false
	case l.result != nil:
		return false
	}
	c.attemptReturned(now, &l.expectation, t.Worker, false)
	c.dropAttempt(now, l, t.Worker, l.id(), fx)
	c.promoteBackup(now, l, fx)
	return true
}

// yieldToBackup promotes the backup attempt after the primary ended without success.
func (c *Coordinator) yieldToBackup(now grid.Time, l *liveTask, from grid.NodeID, id grid.AttemptID, r *grid.Result,
	fx *grid.Effects) {
	t := l.task()
	l.job.account.Ended(now, id, r.Wall, fx)
	c.peers.Ended(now, l.class(), l.task().Worker, r)
	c.attemptReturned(now, &l.expectation, t.Worker, r.Cause != grid.Lost && !r.Cause.Refused())
	if r.Cause == grid.Lost {
		c.countLost(now, l, &l.expectation, from, failures.GivenUp(r))
		c.countLostAttempt(l, from, failures.GivenUp(r))
	} else {
		c.countFailedNode(l, from, failures.GivenUp(r))
		l.noBackup = true
	}
	c.promoteBackup(now, l, fx)
	c.releaseAttempt(from, id, t, fx)
}

// attemptReturned takes an attempt off its worker's outstanding ones, before anything else about it changes;
// delivered = it brought a result.
func (c *Coordinator) attemptReturned(now grid.Time, p *grid.Expectation, worker grid.NodeID, delivered bool) {
	if c.peers.Returned(now, p, worker, delivered) {
		c.ResumeAwaitingProof()
	}
}
