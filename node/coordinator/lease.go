package coordinator

import (
	"time"

	"skep/grid"
	"skep/node/coordinator/live"
	"skep/node/failures"
)

// leaseEnd is when a worker that is not heard from has lost, or not got, what it was sent now: after d, or never if it
// is this node.
func (c *Coordinator) leaseEnd(now grid.Time, worker grid.NodeID, d time.Duration) grid.Time {
	if c.isHere(worker) {
		return grid.Never
	}
	return now.Add(d)
}

// renewLease extends the attempt lease to a full lease from now.
func (c *Coordinator) renewLease(now grid.Time, l *liveTask, fx *grid.Effects) {
	l.deadline, l.asked, l.outage = now.Add(c.cfg.Lease), false, false
	c.scheduleLease(l, fx)
}

// durableLease is for how long a worker may be silent where what runs goes on while the node does not
// (grid.DurableLabel): longer than a restart of its machine takes. Lower runs tasks twice whose worker is away for
// longer; higher has those wait whose worker is gone for good.
const durableLease = 10 * time.Minute

// bearOutage extends the attempt lease, once, if the worker is one of those, and reports whether it is extended. That
// also holds before the worker has accepted: with the start lease of the offer it may have started.
func (c *Coordinator) bearOutage(now grid.Time, l *liveTask, fx *grid.Effects) bool {
	switch {
	case l.outage:
		return now < l.deadline
	case l.job.spec.IsGang() || !c.peers.Durable(l.task().Worker):
		return false
	}
	l.outage, l.deadline = true, now.Add(durableLease)
	c.scheduleLease(l, fx)
	return true
}

// leaseDue is when the lease timer of a task's attempt is due: a quarter of a lease before the lease ends, to ask a
// worker that has not reported the attempt; then at its end. Never, if the worker is this node.
func (c *Coordinator) leaseDue(l *liveTask) grid.Time {
	switch {
	case c.isHere(l.task().Worker):
		return grid.Never
	case !l.asked:
		return l.deadline - grid.Time(c.cfg.Lease/4)
	}
	return l.deadline
}

// askBeforeLoss asks a connected worker, once, for an attempt that it has not reported, and reports whether to wait for
// the answer: its refusal may have been lost.
func (c *Coordinator) askBeforeLoss(now grid.Time, l *liveTask, fx *grid.Effects) bool {
	if l.asked {
		return false
	}
	l.asked = true
	if l.Phase() == live.Placed && c.peers.Connected(l.task().Worker) {
		c.askWorker(l, fx)
		l.deadline = max(l.deadline, now.Add(c.cfg.Lease/4))
	}
	return now < l.deadline
}

// extendLease extends the attempt lease to at least half a lease from now, enough for a live worker's next beat.
func (c *Coordinator) extendLease(now grid.Time, l *liveTask, fx *grid.Effects) {
	l.deadline = max(l.deadline, now.Add(c.cfg.Lease/2))
	c.scheduleLease(l, fx)
}

// scheduleLease sets a timer for the deadline of the attempt lease, unless an earlier timer is pending: reconnects
// must not add timers.
func (c *Coordinator) scheduleLease(l *liveTask, fx *grid.Effects) {
	due := c.leaseDue(l)
	if l.backup != nil {
		due = min(due, l.backup.deadline)
	}
	if due < grid.Never && (l.leaseWake == 0 || due < l.leaseWake) {
		l.leaseWake = due
		fx.Wake(due, grid.TimerLease, l.Key())
	}
}

// ShortenLeases shortens the attempt leases of a worker that has disconnected to a third: a live one reconnects and
// beats, and the tasks of a dead one are placed again sooner. Those of a worker whose tasks go on are extended.
func (c *Coordinator) ShortenLeases(now grid.Time, id grid.NodeID, fx *grid.Effects) {
	for _, h := range c.handlesInOrder() {
		l := c.live.Get(h)
		if l.backup != nil && l.backup.worker == id {
			l.backup.deadline = min(l.backup.deadline, now.Add(c.cfg.Lease/3))
			c.scheduleLease(l, fx)
		}
		switch {
		case l.Phase() == live.Polling:
			if l.Answered(id) && l.Complete() {
				c.choose(now, l, fx)
			}
		case (l.Phase() == live.Offered || l.Phase() == live.Placed) && l.task().Worker == id:
			if c.bearOutage(now, l, fx) {
				continue
			}
			l.deadline = min(l.deadline, now.Add(c.cfg.Lease/3))
			c.scheduleLease(l, fx)
		}
	}
}

// maxRetryDelay bounds the back-off of a task. It starts at a quarter of the lease with the second loss and doubles
// with each further one.
const maxRetryDelay = 30 * time.Second

// attemptLost gives up an attempt. The task is placed again unless it may run at most once or was lost too often.
func (c *Coordinator) attemptLost(now grid.Time, l *liveTask, why grid.Refusal, fx *grid.Effects) {
	if c.rankLost(now, l, why, fx) {
		return
	}
	t := l.task()
	c.startsPossible(now, l.job, t.Worker)
	c.live.Release(l)
	c.attemptReturned(now, &l.expectation, t.Worker, false)
	c.peers.StopsFetching(t.Worker, l.job.spec)
	c.countLost(now, l, &l.expectation, t.Worker, why)
	if why.Why == grid.WhyFetch {
		c.peers.Failed(now, l.class(), t.Worker)
	}
	if l.backup != nil {
		c.countLostAttempt(l, t.Worker, why)
		c.promoteBackup(now, l, fx)
		c.askWorker(l, fx)
		return
	}
	t.Lost++
	reason := c.countLosingNode(now, l, why)
	if reason != "" || l.prepareFailures >= maxPrepareFailures || t.Lost > l.job.spec.Retries {
		r := failures.Lost(l.job.spec, why, reason, l.prepareFailures >= maxPrepareFailures)
		c.end(now, l.job, l.index, r, fx)
		return
	}
	l.forgetResult()
	lost := c.vainLosses(l.job, l.index, t.Lost)
	retryAt := now.Add(min(c.cfg.Lease/4<<min(max(lost-2, 0), 10), maxRetryDelay))
	l.PreferOthers(t.Worker, why, max(retryAt, now.Add(c.cfg.Lease)))
	c.setState(l.job, l.index, grid.Pending, fx)
	c.saveEntry(l.job, l.index, fx)
	if lost == 1 {
		c.retry(l)
		return
	}
	l.pauseUntil = retryAt
	c.parkFor(now, l, retryAt.Sub(now), live.ForTimer, fx)
}

// countLost counts a lost attempt in the worker's track record and the task's trace.
func (c *Coordinator) countLost(now grid.Time, l *liveTask, e *grid.Expectation, worker grid.NodeID,
	why grid.Refusal) {
	c.peers.Lost(now, e, worker, c.cfg.Lease)
	c.stats.Lost++
	c.trace(l.task(), grid.Trace{At: now, What: grid.TraceLost, Node: worker, Refusal: why})
}

// taskTimer handles a task's timers. A stale one finds another phase or a later deadline.
func (c *Coordinator) taskTimer(now grid.Time, k grid.TimerKind, l *liveTask, fx *grid.Effects) {
	if k == grid.TimerLease {
		if now < l.leaseWake {
			return
		}
		l.leaseWake = 0
	}
	if l.backup != nil {
		c.backupTimer(now, k, l, fx)
	}
	switch {
	case k == grid.TimerPoll && l.Phase() == live.Polling && now >= l.deadline:
		c.choose(now, l, fx)
	case k == grid.TimerOffer && l.Phase() == live.Offered && now >= l.Sent.Add(c.cfg.Lease/4):
		c.sendOffer(now, l, fx)
	// an owner without quorum lease gives up no attempt
	case k == grid.TimerLease && (l.Phase() == live.Offered || l.Phase() == live.Placed) && !c.mayAct(now, l.job):
		c.extendLease(now, l, fx)
	case k == grid.TimerLease && c.isStraggler(now, l):
		c.reclaimStraggler(now, l, fx)
	case k == grid.TimerLease && (l.Phase() == live.Offered || l.Phase() == live.Placed):
		if l.result != nil { // it has ended, and the fetch of its files ends by itself
			c.renewLease(now, l, fx)
		} else if now < c.leaseDue(l) || c.askBeforeLoss(now, l, fx) {
			c.scheduleLease(l, fx)
		} else if c.bearOutage(now, l, fx) {
			return
		} else if l.Phase() == live.Offered {
			c.attemptLost(now, l, grid.Refusal{Why: grid.WhySilent}, fx)
		} else {
			c.attemptLost(now, l, grid.Refusal{Why: grid.WhyLost}, fx)
		}
	case k == grid.TimerRetry && l.Phase() == live.Waiting && now >= l.deadline:
		l.lookAgain = true
		c.resumeTask(l)
	}
}

// handlesInOrder returns the handles of the live tasks, oldest first.
func (c *Coordinator) handlesInOrder() []uint64 {
	c.scratch.handles = c.live.InOrder(c.scratch.handles[:0])
	return c.scratch.handles
}

// grantStartLease answers a worker's request: it names the attempts that are live. The request also counts as a beat.
func (c *Coordinator) grantStartLease(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	c.beatReceived(now, from, m, fx)
	c.peers.Stamped(from, m.Register.Seq)
	var a *grid.Message
	for _, id := range m.Attempts {
		l, isSecond := c.currentAttempt(from, id), false
		if l == nil {
			l = c.backupOf(from, id)
			isSecond = l != nil
		}
		if l == nil || !isSecond && l.Phase() != live.Placed || l.job.cancelled || !l.mayStart() || !l.job.inTime(now, 0) {
			continue
		}
		if !c.mayAct(now, l.job) {
			l.job.replica.leasesDenied = true
			c.awaitMajority(l.job)
			continue
		}
		if a == nil {
			a = fx.Send(from, grid.KindStartLeaseAck)
			a.Register.Seq = m.Register.Seq
		}
		a.Attempts = append(a.Attempts, id)
	}
}

// liveTask returns the live part of a task; nil = it has none, or is not known here.
func (c *Coordinator) liveTask(id grid.TaskID) *liveTask {
	j := c.job(id.Job)
	if j == nil || id.Index >= j.spec.Count {
		return nil
	}
	return j.at(id.Index).Live
}
