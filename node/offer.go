package node

import (
	"time"

	"skep/balance"
	"skep/grid"
)

// offer begins a new attempt on the chosen node. The attempt is on disk before the offer leaves, so a restarted owner
// knows which worker to ask.
func (n *Node) offer(now grid.Time, l *liveTask, c balance.Choice, fx *grid.Effects) {
	n.offerUsing(now, l, l, c, fx)
	n.recycleAnswers(l)
}

// recycleAnswers returns the answer buffer of a finished decision to the scratch.
func (n *Node) recycleAnswers(l *liveTask) {
	if l.answers != nil {
		n.scratch.answers = append(n.scratch.answers, l.answers[:0])
	}
	l.answers, l.unanswered = nil, nil
}

// offerUsing is offer, with the poll answers of another task of the batch.
func (n *Node) offerUsing(now grid.Time, l, polled *liveTask, c balance.Choice, fx *grid.Effects) {
	if !n.mayAct(now, l.job) && !n.isProvisional(l.job) {
		n.waitForMajority(now, l, fx)
		return
	}
	t := l.task()
	n.failures.Probe(now, l.class(), c.Node)
	t.attempt = t.nextAttempt(l.job.replica.State().Epoch)
	t.worker, t.placed = c.Node, n.wall.At(now).UnixNano()
	l.cannotExecute, l.promise.Made = nil, now
	n.records.Start(now, &l.promise)
	tr := grid.Trace{At: now, What: grid.TraceChosen, Node: c.Node, ECT: grid.Seconds(c.ECT), Asked: int32(len(polled.polled))}
	for i := range polled.answers {
		if polled.answers[i].Node == c.Node {
			tr.News = now.Sub(polled.answers[i].Heard)
		}
	}
	n.trace(t, tr)
	n.note(balance.Outcome{Kind: balance.Placed, At: now, Node: c.Node, Class: l.class()})
	n.setState(l.job, l.index, grid.Offered, fx)
	n.saveEntry(l.job, l.index, fx)
	n.givenAttempt(now, &l.promise, l.class(), c.Node, c.ECT)
	if !n.mayAct(now, l.job) {
		n.planOffer(now, l, c.ECT, fx)
		return
	}
	n.sendFirstOffer(now, l, fx)
}

// sendFirstOffer sends the first offer of an attempt whose record is on disk, or will be when the message leaves.
func (n *Node) sendFirstOffer(now grid.Time, l *liveTask, fx *grid.Effects) {
	n.countPlaced(l.task().worker)
	l.phase = offered
	n.inFlight++
	n.renewLease(now, l, fx)
	n.sendOffer(now, l, fx)
}

// sendOffer sends an offer, or repeats it when no answer came; the worker recognises a repeated offer.
func (n *Node) sendOffer(now grid.Time, l *liveTask, fx *grid.Effects) {
	l.sent = now
	if !n.mayAct(now, l.job) { // without a quorum lease nothing is sent; try again later
		fx.Wake(now.Add(n.cfg.Lease/4), grid.TimerOffer, l.handle)
		return
	}
	m := fx.Send(l.task().worker, grid.KindOffer)
	m.Offer = grid.Offer{ID: l.id(), Spec: l.job.spec, Class: l.class(), Lease: n.cfg.Lease, Age: l.age(now),
		Members: m.Offer.Members}
	m.Offer.Stamp = n.stampOf(now, l.task().worker)
	m.Offer.Members = append(m.Offer.Members, l.job.members()...)
	n.wakeForOffer(now, l, l.task().worker, fx)
}

// wakeForOffer sets the timer that repeats an unanswered offer. This node answers its own within the step.
func (n *Node) wakeForOffer(now grid.Time, l *liveTask, worker grid.NodeID, fx *grid.Effects) {
	if worker != n.cfg.Self {
		fx.Wake(now.Add(n.cfg.Lease/4), grid.TimerOffer, l.handle)
	}
}

// countPlaced counts an attempt placed here or elsewhere.
func (n *Node) countPlaced(worker grid.NodeID) {
	if worker == n.cfg.Self {
		n.stats.Local++
		return
	}
	n.stats.Moved++
}

// age is the time since the task was submitted, over all its attempts.
func (l *liveTask) age(now grid.Time) time.Duration { return max(now.Sub(l.job.arrived), 0) }

// currentAttempt returns the live task whose current attempt is id and was given to from; nil if there is none.
func (n *Node) currentAttempt(from grid.NodeID, id grid.AttemptID) *liveTask {
	j := n.job(id.Task.Job)
	if j == nil || id.Task.Index >= j.spec.Count {
		return nil
	}
	t := j.at(id.Task.Index)
	if t.attempt != id.Attempt || t.worker != from || t.live == nil {
		return nil
	}
	return t.live
}

func (n *Node) acceptReceived(now grid.Time, from grid.NodeID, id grid.AttemptID, fx *grid.Effects) {
	if l := n.backupOf(from, id); l != nil {
		n.backupAccepted(now, l, fx)
		return
	}
	l := n.currentAttempt(from, id)
	if l == nil || l.phase != offered && l.phase != placed {
		n.dropStale(from, id, fx)
		return
	}
	if l.phase == offered {
		n.markPlaced(now, l, fx)
	}
	l.deadline = max(l.deadline, now.Add(n.cfg.Lease))
}

// markPlaced records that the worker has accepted the attempt.
func (n *Node) markPlaced(now grid.Time, l *liveTask, fx *grid.Effects) {
	n.leaveWindow(l)
	l.phase, l.tries = placed, 0
	n.discovery.Tried(now, l.task().worker, &l.job.spec.Needs, l.job.spec.Engine, true, fx)
	n.setState(l.job, l.index, grid.Placed, fx)
	n.backups.due = true
	n.traceAccepted(now, l.task(), l.task().worker)
}

// traceAccepted records that a worker has accepted an attempt. That this node has says nothing: it was chosen.
func (n *Node) traceAccepted(now grid.Time, t *task, worker grid.NodeID) {
	if worker != n.cfg.Self {
		n.trace(t, grid.Trace{At: now, What: grid.TraceAccepted, Node: worker})
	}
}

// refuseReceived handles a worker's refusal of an attempt, or its report that it does not have the attempt.
func (n *Node) refuseReceived(now grid.Time, from grid.NodeID, id grid.AttemptID, why grid.Refusal, fx *grid.Effects) {
	if n.confirmStopped(now, from, id, fx) {
		return
	}
	if l := n.backupOf(from, id); l != nil {
		n.dropBackup(now, l, why, l.backup.accepted && !neverStarted(why.Why), fx)
		return
	}
	l := n.currentAttempt(from, id)
	if l == nil || l.phase != offered && l.phase != placed || l.isReplicating() {
		n.stats.Stale++
		return
	}
	if l.phase == offered { // the offer may have been sent twice, and the repeat still be under way
		n.startsPossible(now, l.job, from)
	}
	if l.phase == placed && !neverStarted(why.Why) {
		n.attemptLost(now, l, why, fx)
		return
	}
	n.refusedAttempt(now, l, why, fx)
}

// neverStarted reports whether a worker that accepted an attempt states with this reason that it never started it.
func neverStarted(why grid.Why) bool {
	return why == grid.WhyDrain || why == grid.WhyOverdue || why == grid.WhyStale || why == grid.WhyMajority
}

// refusedAttempt places a task again after a refusal: the attempt never ran, so it is not a loss.
func (n *Node) refusedAttempt(now grid.Time, l *liveTask, why grid.Refusal, fx *grid.Effects) {
	if n.forgoUnclaimed(now, l, fx) {
		return
	}
	n.leaveWindow(l)
	l.tries++
	n.attemptReturned(now, &l.promise, l.task().worker, false)
	n.note(balance.Outcome{Kind: balance.Refused, At: now, Node: l.task().worker, Class: l.class()})
	n.discovery.Tried(now, l.task().worker, &l.job.spec.Needs, l.job.spec.Engine, false, fx)
	n.exclude(now, l, l.task().worker, why)
	if l.backup != nil {
		n.promoteBackup(now, l, fx)
		return
	}
	n.setState(l.job, l.index, grid.Pending, fx)
	n.saveEntry(l.job, l.index, fx) // else a restart would ask for the attempt and count it as lost
	n.retry(l)
}

// beatReceived renews the leases of the attempts that a worker lists, and tells it which of them are no longer live.
func (n *Node) beatReceived(now grid.Time, from grid.NodeID, ids []grid.AttemptID, fx *grid.Effects) {
	var drop *grid.Message
	var redirected grid.JobID // the attempts of a job are adjacent
	for _, id := range ids {
		j := n.job(id.Task.Job)
		if j == nil && !n.isOver(id.Task.Job) {
			continue
		}
		if j != nil && !j.authoritative() {
			if id.Task.Job != redirected {
				n.redirect(from, j, fx)
			}
			redirected = id.Task.Job
			continue
		}
		n.adoptAttempt(now, from, id, fx)
		if j != nil && j.leads() && id.Epoch < j.replica.State().Epoch && id.Task.Job != redirected { // the worker may know only an earlier owner
			n.redirect(from, j, fx)
			redirected = id.Task.Job
		}
		if j != nil && j.awaitsCommit(id) {
			continue // acknowledged once it is committed
		}
		if l := n.currentAttempt(from, id); l != nil && (l.phase == offered || l.phase == placed) || n.backupOf(from, id) != nil {
			n.acceptReceived(now, from, id, fx)
			continue
		}
		n.stats.Stale++
		if drop == nil {
			drop = fx.Send(from, grid.KindDrop)
		}
		drop.Attempts = append(drop.Attempts, id)
	}
}

// isOver reports whether a job that is not here is over: it was submitted here and forgotten, or evicted.
func (n *Node) isOver(id grid.JobID) bool {
	return id.Origin == n.cfg.Self || n.replicas.Buried(id)
}

// dropStale tells a worker that an attempt is not the live one.
func (n *Node) dropStale(to grid.NodeID, id grid.AttemptID, fx *grid.Effects) {
	n.stats.Stale++
	if j := n.job(id.Task.Job); j == nil && !n.isOver(id.Task.Job) {
		return
	} else if j != nil && !j.authoritative() {
		n.redirect(to, j, fx)
		return
	}
	m := fx.Send(to, grid.KindDrop)
	m.Attempts = append(m.Attempts, id)
}
