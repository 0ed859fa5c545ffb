package coordinator

import (
	"slices"
	"time"

	"skep/balance"
	"skep/grid"
)

// attemptReturned takes an attempt off its worker's outstanding ones, before anything else about it changes;
// delivered = it brought a result.
func (c *Coordinator) attemptReturned(now grid.Time, p *grid.Expectation, worker grid.NodeID, delivered bool) {
	if c.peers.Returned(now, p, worker, delivered) {
		c.ResumeAwaitingProof()
	}
}

// isStraggler reports whether a task's attempt is so old that it is reclaimed. Not one whose lease never ends, not a
// task that may run at most once, and not where all rates are given.
func (c *Coordinator) isStraggler(now grid.Time, l *liveTask) bool {
	return c.leaseDue(l) < grid.Never && l.result == nil && l.phase == placed && l.job.spec.Retries > 0 &&
		!l.job.spec.IsGang() && c.peers.IsStraggler(now, &l.expectation, l.task().worker, l.level(), l.job.spec, l.reclaims)
}

// reclaimStraggler takes a task back from a node that does not end it. This does not count against the task's retries:
// the node may be well, and the task long.
func (c *Coordinator) reclaimStraggler(now grid.Time, l *liveTask, fx *grid.Effects) {
	t, why := l.task(), grid.Refusal{Why: grid.WhyStuck}
	c.peers.Reclaimed(now, t.worker)
	c.attemptReturned(now, &l.expectation, t.worker, false)
	c.stats.Lost++
	c.trace(t, grid.Trace{At: now, What: grid.TraceLost, Node: t.worker, Refusal: why})
	c.dropAttempt(now, l, t.worker, l.id(), fx)
	l.reclaims = min(l.reclaims+1, grid.MaxReclaims)
	l.expectation.Expected = 0
	l.PreferOthers(t.worker, why, now.Add(c.cfg.Lease))
	if l.backup != nil {
		c.promoteBackup(now, l, fx)
		return
	}
	c.live.release(l)
	c.setState(l.job, l.index, grid.Pending, fx)
	c.saveEntry(l.job, l.index, fx)
	c.retry(l)
}

// Tasks that exceed the bound on the run time of their class. A task that runs longer was declared too small and delays
// the small tasks behind it. It is stopped, and its owner places it again with the next class, which may belong to
// other nodes [4 of balance, sections 3.4 and 14: the bound theta of a class]. That is not a loss. A task that may run
// at most once is exempt.

// mayDemoteTo reports whether a worker may move the task to that class: not to a class that it had before, nor to a
// level of one, and a few times at most. Otherwise the result is an ordinary loss.
func (l *liveTask) mayDemoteTo(next string) bool {
	return next != "" && grid.ValidClass(next) && next != l.class() && l.job.spec.Retries > 0 && l.demotions.May(next) &&
		!l.job.spec.IsGang()
}

// demote places a task again with the class that its worker named, and reports whether the result was a valid
// demotion. Only the worker knows whether the task really ran too long. So the result is no delivery, other nodes are
// preferred, and it counts as a failure of the old class at that worker.
func (c *Coordinator) demote(now grid.Time, l *liveTask, r *grid.Result, fx *grid.Effects) bool {
	if !l.mayDemoteTo(r.Next) {
		return false
	}
	worker, next := l.task().worker, c.peers.Demoted(now, r.Next, l.job.spec)
	c.attemptReturned(now, &l.expectation, worker, false)
	c.policies.Note(balance.Outcome{Kind: balance.Finished, At: now, Node: worker, Class: l.request.Class})
	c.peers.Failed(now, l.class(), worker)
	l.demotions.Add(worker, l.class())
	l.demotedTo, l.request.Class = next, next
	c.trace(l.task(), grid.Trace{At: now, What: grid.TraceDemoted, Node: worker, Refusal: grid.Refusal{Detail: next}})
	c.setState(l.job, l.index, grid.Pending, fx)
	c.saveEntry(l.job, l.index, fx)
	c.retry(l)
	return true
}

// Tasks that go to an idle node which asks for work (package pull).

const (
	maxPulls       = 3           // times that a task is taken from a worker's queue; then it stays
	maxVainPulls   = 3           // nodes that asked for it and did not get it; then it stays too
	maxWaiting     = 64          // waiting tasks that are considered
	maxWaitingJobs = 16          // jobs that they are of
	pullPause      = time.Second // a worker whose task was pulled in vain is avoided for so long
)

// WaitingCount returns the number of tasks that wait for a timer, or for a change of the nodes known.
func (c *Coordinator) WaitingCount() int { return len(c.live.waiting.list) }

// mayGrant reports whether a waiting task may be offered to a node that asks: not one whose policy decided that it
// waits, but for one that was mapped and has not begun, nor one that was lost and is placed again later.
func (c *Coordinator) mayGrant(now grid.Time, l *liveTask) bool {
	if l.awaits == awaitMapping && l.job.expected.by == 0 {
		return false
	}
	return !l.planned && !l.job.isFull(0) && now >= l.pauseUntil && !c.isLocal(l.job.spec) && c.mayAct(now, l.job) &&
		(l.awaits == awaitMapping || l.task().history.Last().Refusal.Why != grid.WhyPolicy || c.awaitsIdleNode(l.job))
}

// Waiting appends what waits for its placement here, by job; in turns, where much does.
func (c *Coordinator) Waiting(now grid.Time, dst []grid.Waiting) []grid.Waiting {
	first, list := len(dst), c.live.waiting.list
	start := c.live.waiting.turn
	if len(list) <= maxWaiting {
		start = 0
	}
	c.live.waiting.first = start
	for k := range min(len(list), maxWaiting) {
		c.live.waiting.turn = (start + k + 1) % len(list)
		l := list[(start+k)%len(list)]
		same := func(x grid.Waiting) bool { return x.Job == l.job.id && x.Class == l.class() }
		if slices.ContainsFunc(dst[first:], same) || !c.mayGrant(now, l) {
			continue
		}
		w := grid.Waiting{Job: l.job.id, Owner: c.cfg.Self, Spec: l.job.spec, Class: l.class(), Level: l.level(),
			Overdue: true}
		if l.awaits == awaitMapping {
			w.End, w.Overdue = max(l.job.expected.by.Sub(now), 0).Seconds(), now >= l.job.expected.overdue
		}
		if dst = append(dst, w); len(dst)-first == maxWaitingJobs {
			break
		}
	}
	return dst
}

// Grant offers a waiting task of a job to an idle node that asked for one, and reports whether it did.
func (c *Coordinator) Grant(now grid.Time, x *grid.Waiting, to grid.NodeID, fx *grid.Effects) bool {
	l := c.grantable(now, x)
	if l == nil {
		return false
	}
	s := c.candidate(now, l, to)
	if s == nil || !c.pays(l, s) {
		return false
	}
	c.dequeue(l)
	l.search = 0
	c.offerTo(now, l, s, fx)
	return true
}

// grantable returns a task among those that Waiting considered last; nil if none may be granted any more.
func (c *Coordinator) grantable(now grid.Time, x *grid.Waiting) *liveTask {
	list := c.live.waiting.list
	for k := range min(len(list), maxWaiting) {
		l := list[(c.live.waiting.first+k)%len(list)]
		if l.job.id == x.Job && l.class() == x.Class && c.mayGrant(now, l) {
			return l
		}
	}
	return nil
}

// MayYield reports whether an attempt of a job owned here may be taken from this node's worker for another node: the
// owner must be able to place the task again, there.
func (c *Coordinator) MayYield(now grid.Time, id grid.AttemptID, to grid.NodeID) bool {
	j := c.jobs.Get(id.Task.Job)
	if j == nil || id.Task.Index >= j.spec.Count {
		return false
	}
	l := j.at(id.Task.Index).live
	if l != nil {
		l.Expire(now)
	}
	return l != nil && !slices.Contains(l.vain, to) && !l.excludes(to, true) && !c.peers.BackingOff(now, to) &&
		!c.peers.Excludes(now, l.class(), to) && j.leads() && !j.cancelled && !c.isLocal(j.spec) && c.mayAct(now, j) &&
		(j.spec.Retries > 0 || id.Epoch >= j.replica.fullHistoryFrom)
}

// offerTo begins a new attempt on a node that asked for work.
func (c *Coordinator) offerTo(now grid.Time, l *liveTask, s *balance.State, fx *grid.Effects) {
	l.request.ID, l.request.Class = l.id(), c.peers.Told(l.level())
	l.polled, l.answers, l.unanswered, l.pulled = l.polled[:0], l.answers[:0], l.unanswered[:0], true
	c.offer(now, l, balance.Choice{Act: balance.Place, Node: s.Node, ECT: s.ECT}, fx)
	l.pulled = false // an offer that is held up goes out later, maybe to another node
}

// wasPulled reports whether a worker's refusal says that it gave the attempt to an idle node. An attempt of an earlier
// owner may be its last that may move.
func (l *liveTask) wasPulled(worker grid.NodeID, why grid.Why, puller grid.NodeID) bool {
	return l.phase == placed && why == grid.WhyPulled && puller != worker &&
		(!l.stays() || l.task().attempt.Epoch < l.job.replica.fullHistoryFrom)
}

// stays reports whether a task was taken from queues as often as it may be.
func (l *liveTask) stays() bool { return l.task().pulls >= maxPulls || len(l.vain) >= maxVainPulls }

// leaseDue is when the lease timer of a task's attempt is due: a quarter of a lease before the lease ends, to ask a
// worker that has not reported the attempt; then at its end. Never, if the worker is this node.
func (c *Coordinator) leaseDue(l *liveTask) grid.Time {
	switch {
	case c.isHere(l.task().worker):
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
	if l.phase == placed && c.peers.Connected(l.task().worker) {
		c.askWorker(l, fx)
		l.deadline = max(l.deadline, now.Add(c.cfg.Lease/4))
	}
	return now < l.deadline
}

// pulledAway places a task again that its worker has handed back for an idle node: that one gets it, if it is still a
// candidate. The attempt never ran: this is no loss, and no refusal that counts against the worker.
func (c *Coordinator) pulledAway(now grid.Time, l *liveTask, worker, puller grid.NodeID, fx *grid.Effects) {
	if c.forgoUnreported(now, l, fx) {
		return
	}
	c.live.release(l)
	l.forgetResult()
	c.attemptReturned(now, &l.expectation, worker, false)
	why := grid.Refusal{Why: grid.WhyPulled}
	if !puller.IsZero() {
		why.Detail = c.peers.Name(puller)
	}
	c.trace(l.task(), grid.Trace{At: now, What: grid.TraceRefused, Node: worker, Refusal: why})
	if l.backup != nil {
		c.promoteBackup(now, l, fx)
		return
	}
	s := c.candidate(now, l, puller)
	if s != nil || l.BacksOff(puller) { // a back-off ends: the puller may get the task when it asks again
		l.task().pulls++
	} else {
		l.vain = append(l.vain, puller)
	}
	c.setState(l.job, l.index, grid.Pending, fx)
	c.saveEntry(l.job, l.index, fx)
	if s != nil {
		c.offerTo(now, l, s, fx)
		return
	}
	l.PreferOthers(worker, why, now.Add(pullPause))
	c.retry(l)
}
