package node

import (
	"slices"

	"skep/balance"
	"skep/grid"
)

// backupAttempt is the second copy of a task of a job that is idempotent: an attempt of its own, with its own worker and lease,
// beside the one that the task stands at. Its number is above that one's, so that to workers it is any other attempt.
// The first result that is a success is the task's, and the other copy is dropped then. A copy that fails
// or is lost leaves the task to the other one: it counts against its node, not against the task. After one has failed there is
// no further copy, or a task that must fail would go on failing for ever.
type backupAttempt struct {
	attempt  grid.Attempt
	worker   grid.NodeID
	accepted bool
	sent     grid.Time // when the offer was
	deadline grid.Time // of its lease
	placed   int64
	promise
}

// nextAttempt is the number of the next attempt: above all that were ever made, live or not.
func (t *task) nextAttempt(epoch uint32) grid.Attempt {
	last := t.attempt
	if last.Less(t.backupMade) {
		last = t.backupMade
	}
	if epoch > last.Epoch {
		last = grid.Attempt{Epoch: epoch}
	}
	last.N++
	return last
}

// copyRecord is what is to be kept on disk of a task's second copy.
func (t *task) copyRecord() *grid.CopyRecord {
	if t.backupMade == (grid.Attempt{}) || t.state == grid.Ended {
		return nil
	}
	c := &grid.CopyRecord{Attempt: t.backupMade}
	if t.live != nil && t.live.backup != nil {
		c.Worker = t.live.backup.worker
	}
	return c
}

// backupOf returns the live part of the task whose second copy the attempt is, if that node was given it.
func (n *Node) backupOf(from grid.NodeID, id grid.AttemptID) *liveTask {
	j := n.job(id.Task.Job)
	if j == nil || id.Task.Index >= j.spec.Count {
		return nil
	}
	l := j.at(id.Task.Index).live
	if l == nil || l.backup == nil || l.backup.attempt != id.Attempt || l.backup.worker != from {
		return nil
	}
	return l
}

func (l *liveTask) backupID() grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Job: l.job.id, Index: l.index}, Attempt: l.backup.attempt}
}

// startBackup makes the second copy of a task on a node, as offer makes the first.
func (n *Node) startBackup(now grid.Time, l *liveTask, c balance.Choice, fx *grid.Effects) {
	t, epoch := l.task(), uint32(1)
	if g := l.job.replica; g != nil {
		epoch = g.reg.State().Epoch
	}
	t.backupMade = t.nextAttempt(epoch)
	s := &backupAttempt{attempt: t.backupMade, worker: c.Node, placed: n.wall.At(now).UnixNano()}
	s.madeAt, l.backup = now, s
	n.startPromise(now, &s.promise)
	n.stats.Backups++
	n.probeBlacklisted(now, l.class(), c.Node)
	n.trace(t, grid.Trace{At: now, What: grid.TraceCopied, Node: c.Node, ECT: grid.Seconds(c.ECT)})
	n.note(balance.Outcome{Kind: balance.Placed, At: now, Node: c.Node, Class: l.class()})
	n.saveTask(l.job, l.index, fx)
	if c.Node == n.cfg.Self {
		s.accepted, s.deadline = true, grid.Never
		n.stats.Local++
		n.acceptAttempt(now, n.cfg.Self, n.backupOffer(l, l.backupID()), fx)
		return
	}
	n.stats.Moved++
	n.givenAttempt(now, &s.promise, l.class(), c.Node, c.ECT)
	s.deadline = now.Add(n.cfg.Lease)
	n.scheduleLease(l, fx)
	n.sendBackupOffer(now, l, fx)
}

// sendBackupOffer offers the second copy, again if there was no answer.
func (n *Node) sendBackupOffer(now grid.Time, l *liveTask, fx *grid.Effects) {
	s := l.backup
	s.sent = now
	if n.mayAct(now, l.job) { // its lease goes on only if it was heard
		fx.Send(s.worker, grid.KindOffer).Offer = *n.backupOffer(l, l.backupID())
	}
	fx.Wake(now.Add(n.cfg.Lease/4), grid.TimerOffer, l.handle)
}

// backupOffer says what is offered with a second copy. It has no age: its task runs already, and goes before nobody in a queue.
func (n *Node) backupOffer(l *liveTask, id grid.AttemptID) *grid.Offer {
	o := &grid.Offer{ID: id, Spec: l.job.spec, Class: l.class(), Lease: n.cfg.Lease}
	if g := l.job.replica; g != nil {
		o.Members = slices.Clone(g.reg.Members())
	}
	return o
}

// backupAccepted notes that the worker has the second copy.
func (n *Node) backupAccepted(now grid.Time, l *liveTask, fx *grid.Effects) {
	s := l.backup
	if !s.accepted {
		s.accepted = true
		n.discovery.Tried(now, s.worker, &l.job.spec.Needs, l.job.spec.Engine, true, fx)
		n.trace(l.task(), grid.Trace{At: now, What: grid.TraceAccepted, Node: s.worker})
	}
	s.deadline = max(s.deadline, now.Add(n.cfg.Lease))
}

// backupTimer looks at the second copy when a timer of its task comes.
func (n *Node) backupTimer(now grid.Time, k grid.TimerKind, l *liveTask, fx *grid.Effects) {
	s := l.backup
	switch {
	case k == grid.TimerOffer && !s.accepted && now >= s.sent.Add(n.cfg.Lease/4):
		n.sendBackupOffer(now, l, fx)
	case k == grid.TimerLease && now >= s.deadline && !n.mayAct(now, l.job): // an owner that may be none gives nothing up
		s.deadline = now.Add(n.cfg.Lease)
	case k == grid.TimerLease && now >= s.deadline:
		n.dropBackup(now, l, grid.Refusal{Why: grid.WhySilent}, true, fx)
	}
	if k == grid.TimerLease && l.backup != nil {
		n.scheduleLease(l, fx)
	}
}

// dropBackup lets go of the second copy, which is told nothing: it is lost, or its node said that it is not there.
func (n *Node) dropBackup(now grid.Time, l *liveTask, why grid.Refusal, lost bool, fx *grid.Effects) {
	s := l.backup
	n.startsPossible(now, l.job, s.worker)
	n.attemptReturned(now, &s.promise, s.worker, false)
	if lost {
		n.countLost(now, l, s.worker, why)
		n.countLostCopy(l, s.worker, why)
		l.excluded = append(l.excluded, exclusion{node: s.worker, why: why, until: now.Add(n.cfg.Lease), preference: true})
	} else {
		n.note(balance.Outcome{Kind: balance.Refused, At: now, Node: s.worker, Class: l.class()})
		n.exclude(now, l, s.worker, why)
	}
	l.backup = nil
	n.saveTask(l.job, l.index, fx)
	n.backups.due = true
}

// countLostCopy notes that a copy was lost while the other one lives. That costs the task none of its retries; but after as many such losses as it
// has retries, or on as many nodes as end a task, there is no further copy, or one that kills its nodes would do so for ever.
func (n *Node) countLostCopy(l *liveTask, worker grid.NodeID, why grid.Refusal) {
	l.lostCopies++
	l.noBackup = n.countFailedNode(l, worker, why) != "" || l.lostCopies > l.job.spec.Retries || l.noBackup
}

// dropAttempt drops an attempt of a task at its worker: the other copy goes on, or was the first to end.
func (n *Node) dropAttempt(now grid.Time, l *liveTask, worker grid.NodeID, id grid.AttemptID, fx *grid.Effects) {
	if worker == n.cfg.Self {
		n.forgetAttempt(now, id, fx)
		return
	}
	if l.job.barrier == nil { // else who cancelled waits for this attempt by name
		n.startsPossible(now, l.job, worker)
	}
	m := attemptsMessage(fx, n.firstSend, worker, grid.KindDrop)
	m.Attempts = append(m.Attempts, id)
}

// promoteBackup makes the second copy the attempt that the task stands at; whatever there was to do about the one before is done.
func (n *Node) promoteBackup(now grid.Time, l *liveTask, fx *grid.Effects) {
	t, s := l.task(), l.backup
	n.dequeue(l)
	t.attempt, t.worker, t.placed = s.attempt, s.worker, s.placed
	l.promise, l.sent, l.deadline, l.backup = s.promise, s.sent, s.deadline, nil
	l.result, l.replicas, l.fetchTries = nil, nil, 0
	if s.accepted {
		l.phase = placed
		n.setState(l.job, l.index, grid.Placed, fx)
	} else {
		l.phase = offered
		n.inFlight++
		n.setState(l.job, l.index, grid.Offered, fx)
	}
	n.saveTask(l.job, l.index, fx)
	n.scheduleLease(l, fx)
	n.backups.due = true
}

// backupEnded takes the result of a second copy, and reports whether it is the task's: then the task stands at it, and the
// other attempt is dropped. While the files of the other's result are on their way nothing is said: it is told again.
func (n *Node) backupEnded(now grid.Time, l *liveTask, from grid.NodeID, id grid.AttemptID, r *grid.Result, fx *grid.Effects) bool {
	t := l.task()
	switch {
	case !r.Succeeded():
		n.releaseAttempt(from, id, t, fx)
		n.recordEnd(now, l.class(), from, r)
		l.noBackup = l.noBackup || r.Cause != grid.Lost
		n.dropBackup(now, l, refusalOf(r), r.Cause == grid.Lost, fx)
		return false
	case l.result != nil:
		return false
	}
	n.leaveWindow(l)
	n.attemptReturned(now, &l.promise, t.worker, false)
	n.dropAttempt(now, l, t.worker, l.id(), fx)
	n.promoteBackup(now, l, fx)
	return true
}

// yieldToBackup leaves a task to its second copy: the result of the first is no success.
func (n *Node) yieldToBackup(now grid.Time, l *liveTask, from grid.NodeID, id grid.AttemptID, r *grid.Result, fx *grid.Effects) {
	t := l.task()
	n.leaveWindow(l)
	n.recordEnd(now, l.class(), l.task().worker, r)
	n.attemptReturned(now, &l.promise, t.worker, r.Cause != grid.Lost && !r.Cause.Refused())
	if r.Cause == grid.Lost {
		n.countLost(now, l, from, refusalOf(r))
		n.countLostCopy(l, from, refusalOf(r))
	} else {
		n.countFailedNode(l, from, refusalOf(r))
		l.noBackup = true
	}
	n.promoteBackup(now, l, fx)
	n.releaseAttempt(from, id, t, fx)
}

// refusalOf says why a copy is given up whose result is no success.
func refusalOf(r *grid.Result) grid.Refusal {
	why := grid.WhyFailed
	switch r.Cause {
	case grid.Lost:
		why = grid.WhyLost
	case grid.CannotExecute, grid.NotFound:
		why = grid.WhyProgram
	}
	return grid.Refusal{Why: why, Detail: r.Error}
}
