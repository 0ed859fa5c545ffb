package node

import (
	"slices"
	"time"

	"skep/grid"
)

// leaseEnd is the end of a lease given to a worker now. Attempts on this node have no lease: it knows what became of
// them.
func (n *Node) leaseEnd(now grid.Time, worker grid.NodeID) grid.Time {
	if worker == n.cfg.Self {
		return grid.Never
	}
	return now.Add(n.cfg.Lease)
}

// renewLease extends the attempt lease to a full lease from now.
func (n *Node) renewLease(now grid.Time, l *liveTask, fx *grid.Effects) {
	l.deadline = now.Add(n.cfg.Lease)
	n.scheduleLease(l, fx)
}

// extendLease extends the attempt lease to at least half a lease from now, enough for a live worker's next beat.
func (n *Node) extendLease(now grid.Time, l *liveTask, fx *grid.Effects) {
	l.deadline = max(l.deadline, now.Add(n.cfg.Lease/2))
	n.scheduleLease(l, fx)
}

// scheduleLease sets a timer for the deadline of the attempt lease, unless an earlier timer is pending: reconnects
// must not add timers.
func (n *Node) scheduleLease(l *liveTask, fx *grid.Effects) {
	due := grid.Never
	if l.task().worker != n.cfg.Self {
		due = l.deadline
	}
	if l.backup != nil {
		due = min(due, l.backup.deadline)
	}
	if due < grid.Never && (l.leaseWake == 0 || due < l.leaseWake) {
		l.leaseWake = due
		fx.Wake(due, grid.TimerLease, l.handle)
	}
}

// shortenLeases shortens the attempt leases of a worker that has disconnected to a third: a live one reconnects and
// beats, and the tasks of a dead one are placed again sooner.
func (n *Node) shortenLeases(now grid.Time, id grid.NodeID, fx *grid.Effects) {
	for _, h := range n.handlesInOrder() {
		l := n.live.Get(h)
		if l.backup != nil && l.backup.worker == id {
			l.backup.deadline = min(l.backup.deadline, now.Add(n.cfg.Lease/3))
			n.scheduleLease(l, fx)
		}
		switch {
		case l.phase == polling:
			if l.answeredBy(id) && len(l.unanswered) == 0 {
				n.choose(now, l, fx)
			}
		case (l.phase == offered || l.phase == placed) && l.task().worker == id:
			l.deadline = min(l.deadline, now.Add(n.cfg.Lease/3))
			n.scheduleLease(l, fx)
		}
	}
}

// answeredBy removes a node from the unanswered ones and reports whether it was among them.
func (l *liveTask) answeredBy(id grid.NodeID) bool {
	at := slices.Index(l.unanswered, id)
	if at >= 0 {
		l.unanswered = slices.Delete(l.unanswered, at, at+1)
	}
	return at >= 0
}

// askAttempts asks a worker that has reconnected, or this node after a restart, about the attempts that it was given.
func (n *Node) askAttempts(now grid.Time, id grid.NodeID, fx *grid.Effects) {
	var m *grid.Message
	for _, h := range n.handlesInOrder() {
		l := n.live.Get(h)
		about := l.id()
		switch {
		case (l.phase == offered || l.phase == placed) && l.task().worker == id:
			n.renewLease(now, l, fx)
		case l.backup != nil && l.backup.worker == id:
			about, l.backup.deadline = l.backupID(), n.leaseEnd(now, id)
			n.scheduleLease(l, fx)
		default:
			continue
		}
		if m == nil || len(m.Attempts) >= grid.MaxBeats {
			m = fx.Send(id, grid.KindAsk)
		}
		m.Attempts = append(m.Attempts, about)
	}
}

// maxRetryDelay bounds the back-off of a task. It starts at a quarter of the lease with the second loss and doubles
// with each further one.
const maxRetryDelay = 30 * time.Second

// attemptLost gives up an attempt. The task is placed again unless it may run at most once or was lost too often.
func (n *Node) attemptLost(now grid.Time, l *liveTask, why grid.Refusal, fx *grid.Effects) {
	t := l.task()
	n.startsPossible(now, l.job, t.worker)
	n.leaveWindow(l)
	n.attemptReturned(now, &l.promise, t.worker, false)
	l.phase = idle
	n.countLost(now, l, t.worker, why)
	if why.Why == grid.WhyFetch {
		n.failures.Failed(now, l.class(), t.worker)
	}
	if l.backup != nil {
		n.countLostCopy(l, t.worker, why)
		n.promoteBackup(now, l, fx)
		n.askWorker(l, fx)
		return
	}
	t.lost++
	reason := n.countFailedNode(l, t.worker, why)
	if reason != "" || l.prepareFailures >= maxPrepareFailures || t.lost > l.job.spec.Retries {
		text := "lost: the node that ran it " + why.Why.String()
		if why.Detail != "" {
			text += ": " + why.Detail
		}
		switch {
		case reason != "":
			text = "lost: " + reason
		case l.prepareFailures >= maxPrepareFailures:
			text = why.Detail
		}
		if l.job.spec.Retries == 0 {
			text += "; it was to run at most once"
		}
		n.end(now, l.job, l.index, &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep, Error: clip(text)}, fx)
		return
	}
	l.forgetResult()
	retryAt := now.Add(min(n.cfg.Lease/4<<min(max(t.lost-2, 0), 10), maxRetryDelay))
	l.excluded = append(l.excluded, exclusion{node: t.worker, why: why, until: max(retryAt, now.Add(n.cfg.Lease)), preference: true})
	n.setState(l.job, l.index, grid.Pending, fx)
	n.saveEntry(l.job, l.index, fx)
	if t.lost == 1 {
		n.retry(l)
		return
	}
	l.deadline = retryAt
	n.parkTask(l)
	fx.Wake(retryAt, grid.TimerRetry, l.handle)
}

// countLost counts a lost attempt in the worker's track record and the task's trace.
func (n *Node) countLost(now grid.Time, l *liveTask, worker grid.NodeID, why grid.Refusal) {
	n.records.Lost(now, worker)
	n.stats.Lost++
	n.trace(l.task(), grid.Trace{At: now, What: grid.TraceLost, Node: worker, Refusal: why})
}

// taskTimer handles a task's timers. A stale one finds another phase or a later deadline.
func (n *Node) taskTimer(now grid.Time, k grid.TimerKind, l *liveTask, fx *grid.Effects) {
	if k == grid.TimerLease {
		if now < l.leaseWake {
			return
		}
		l.leaseWake = 0
	}
	if l.backup != nil {
		n.backupTimer(now, k, l, fx)
	}
	switch {
	case k == grid.TimerPoll && l.phase == polling && now >= l.deadline:
		n.choose(now, l, fx)
	case k == grid.TimerOffer && l.phase == offered && now >= l.sent.Add(n.cfg.Lease/4):
		n.sendOffer(now, l, fx)
	case k == grid.TimerLease && (l.phase == offered || l.phase == placed) && !n.mayAct(now, l.job): // an owner without quorum lease gives up no attempt
		n.extendLease(now, l, fx)
	case k == grid.TimerLease && n.isStraggler(now, l):
		n.reclaimStraggler(now, l, fx)
	case k == grid.TimerLease && (l.phase == offered || l.phase == placed) && l.task().worker != n.cfg.Self:
		if l.result != nil { // it has ended, and the fetch of its files ends by itself
			n.renewLease(now, l, fx)
		} else if now < l.deadline {
			n.scheduleLease(l, fx)
		} else if l.phase == offered {
			n.attemptLost(now, l, grid.Refusal{Why: grid.WhySilent}, fx)
		} else {
			n.attemptLost(now, l, grid.Refusal{Why: grid.WhyLost}, fx)
		}
	case k == grid.TimerRetry && l.phase == waiting && now >= l.deadline:
		l.lookAgain = true
		n.resumeTask(l)
	}
}

// handlesInOrder returns the handles of the live tasks, oldest first.
func (n *Node) handlesInOrder() []uint64 {
	hs := n.scratch.handles[:0]
	for l := range n.live.All() {
		hs = append(hs, l.handle)
	}
	slices.Sort(hs)
	n.scratch.handles = hs
	return hs
}
