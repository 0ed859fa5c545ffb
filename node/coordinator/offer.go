package coordinator

import (
	"skep/balance"
	"skep/grid"
	"skep/node/decisions"
)

// offer begins a new attempt on the chosen node. The attempt is on disk before the offer leaves, so a restarted owner
// knows which worker to ask.
func (c *Coordinator) offer(now grid.Time, l *liveTask, x balance.Choice, fx *grid.Effects) {
	c.offerUsing(now, l, &l.decision, x, fx)
	c.recycleAnswers(l)
}

// recycleAnswers returns the answer buffer of a finished decision to the scratch.
func (c *Coordinator) recycleAnswers(l *liveTask) {
	if l.answers != nil {
		c.scratch.answers = append(c.scratch.answers, l.answers[:0])
	}
	l.answers, l.unanswered = nil, nil
	c.weighed.Release(&l.candidates)
}

// offerUsing is offer, with the poll answers of another task of the batch, or of a mapping event.
func (c *Coordinator) offerUsing(now grid.Time, l *liveTask, polled *decision, x balance.Choice, fx *grid.Effects) {
	if !c.mayAct(now, l.job) && !c.isProvisional(l.job) {
		c.waitForMajority(now, l, fx)
		return
	}
	if c.awaitsSlotNow(now, l, 0, fx) || c.tooLate(now, l, x.ECT, fx) {
		return
	}
	t := l.task()
	c.peers.Probe(now, l.class(), x.Node)
	t.attempt = t.nextAttempt(l.job.replica.State().Epoch)
	t.worker, t.placed = x.Node, c.wall.At(now).UnixNano()
	l.cannotExecute, l.expectation.Made, l.asked = nil, now, false
	c.peers.Start(now, &l.expectation)
	tr := grid.Trace{At: now, What: grid.TraceChosen, Node: x.Node, ECT: grid.Seconds(x.ECT),
		Asked: int32(len(polled.polled))}
	for i := range polled.answers {
		if polled.answers[i].Node == x.Node {
			tr.News = now.Sub(polled.answers[i].Heard)
		}
	}
	c.trace(t, tr)
	why := decisions.VerdictOf(&polled.candidates, polled.answers, &x)
	if l.pulled {
		why = grid.VerdictPull
	}
	c.logDecision(now, l, polled, x, why)
	c.policies.Note(balance.Outcome{Kind: balance.Placed, At: now, Node: x.Node, Class: l.request.Class})
	c.setState(l.job, l.index, grid.Offered, fx)
	c.saveEntry(l.job, l.index, fx)
	c.peers.Given(now, &l.expectation, l.level(), x.Node, x.ECT)
	if !c.mayAct(now, l.job) {
		c.planOffer(now, l, x.ECT, fx)
		return
	}
	c.sendFirstOffer(now, l, fx)
}

// sendFirstOffer sends the first offer of an attempt whose record is on disk, or will be when the message leaves.
func (c *Coordinator) sendFirstOffer(now grid.Time, l *liveTask, fx *grid.Effects) {
	c.countPlaced(l.task().worker)
	c.live.offer(l)
	c.renewLease(now, l, fx)
	c.sendOffer(now, l, fx)
}

// sendOffer sends an offer, or repeats it when no answer came; the worker recognises a repeated offer.
func (c *Coordinator) sendOffer(now grid.Time, l *liveTask, fx *grid.Effects) {
	l.sent = now
	if !c.mayAct(now, l.job) { // without a quorum lease nothing is sent; try again later
		fx.Wake(now.Add(c.cfg.Lease/4), grid.TimerOffer, l.handle)
		return
	}
	m := fx.Send(l.task().worker, grid.KindOffer)
	m.Offer = grid.Offer{ID: l.id(), Spec: l.job.spec, Class: l.class(), Lease: c.cfg.Lease, Age: l.age(now),
		Members: m.Offer.Members, Barred: c.barred(l, m.Offer.Barred),
		Inputs: c.inputsLeft(l)}
	m.Offer.Stamp, m.Offer.Places, m.Offer.Before = c.offerStamp(now, l), l.job.rankPlaces(), c.divisionBefore(l)
	m.Offer.Members = append(m.Offer.Members, l.job.members()...)
	m.Offer.Stays, m.Offer.Pulled, m.Offer.Asks = l.stays() || l.job.spec.IsGang(), l.pulled, true
	l.pulled = false
	c.wakeForOffer(now, l, l.task().worker, fx)
}

// wakeForOffer sets the timer that repeats an unanswered offer.
func (c *Coordinator) wakeForOffer(now grid.Time, l *liveTask, worker grid.NodeID, fx *grid.Effects) {
	if at := c.leaseEnd(now, worker, c.cfg.Lease/4); at < grid.Never {
		fx.Wake(at, grid.TimerOffer, l.handle)
	}
}

// countPlaced counts an attempt placed here or elsewhere.
func (c *Coordinator) countPlaced(worker grid.NodeID) {
	if c.isHere(worker) {
		c.stats.Local++
		return
	}
	c.stats.Moved++
}

// currentAttempt returns the live task whose current attempt is id and was given to from; nil if there is none.
func (c *Coordinator) currentAttempt(from grid.NodeID, id grid.AttemptID) *liveTask {
	j := c.job(id.Task.Job)
	if j == nil || id.Task.Index >= j.spec.Count {
		return nil
	}
	t := j.at(id.Task.Index)
	if t.attempt != id.Attempt || t.worker != from || t.live == nil {
		return nil
	}
	return t.live
}

func (c *Coordinator) acceptReceived(now grid.Time, from grid.NodeID, id grid.AttemptID, fx *grid.Effects) {
	if l := c.backupOf(from, id); l != nil {
		c.backupAccepted(now, l, fx)
		return
	}
	l := c.currentAttempt(from, id)
	if l == nil || l.phase != offered && l.phase != placed {
		c.dropStale(from, id, fx)
		return
	}
	if l.phase == offered {
		c.markPlaced(now, l, fx)
	}
	l.deadline, l.asked = max(l.deadline, now.Add(c.cfg.Lease)), false
	c.rankPlaced(now, l, fx)
}

// markPlaced records that the worker has accepted the attempt.
func (c *Coordinator) markPlaced(now grid.Time, l *liveTask, fx *grid.Effects) {
	c.live.accept(l)
	l.tries = 0
	c.discovery.Tried(now, l.task().worker, &l.job.spec.Needs, l.job.spec.Engine, true, fx)
	c.setState(l.job, l.index, grid.Placed, fx)
	c.backups.due = true
	c.traceAccepted(now, l.task(), l.task().worker)
}

// traceAccepted records that a worker has accepted an attempt. That this node has says nothing: it was chosen.
func (c *Coordinator) traceAccepted(now grid.Time, t *task, worker grid.NodeID) {
	if !c.isHere(worker) {
		c.trace(t, grid.Trace{At: now, What: grid.TraceAccepted, Node: worker})
	}
}

// refuseReceived handles a worker's refusal of an attempt, or its report that it does not have the attempt.
func (c *Coordinator) refuseReceived(now grid.Time, from grid.NodeID, id grid.AttemptID, why grid.Refusal,
	puller grid.NodeID, fx *grid.Effects) {
	if neverStarted(why.Why) && from != c.cfg.Self {
		c.acknowledgeHandBack(from, id, fx)
	}
	if c.confirmStopped(now, from, id, fx) {
		return
	}
	if l := c.backupOf(from, id); l != nil {
		c.dropBackup(now, l, why, l.backup.accepted && !neverStarted(why.Why), fx)
		return
	}
	l := c.currentAttempt(from, id)
	if l == nil || l.phase != offered && l.phase != placed || l.isReplicating() {
		c.stats.Stale++
		return
	}
	if l.phase == offered { // the offer may have been sent twice, and the repeat still be under way
		c.startsPossible(now, l.job, from)
	}
	if l.phase == placed && !neverStarted(why.Why) {
		c.attemptLost(now, l, why, fx)
		return
	}
	if l.wasPulled(from, why.Why, puller) {
		c.pulledAway(now, l, from, puller, fx)
		return
	}
	c.refusedAttempt(now, l, why, fx)
}

// neverStarted reports whether a worker that accepted an attempt states with this reason that it never started it.
func neverStarted(why grid.Why) bool {
	return why == grid.WhyDrain || why == grid.WhyOverdue || why == grid.WhyStale || why == grid.WhyMajority ||
		why == grid.WhyPulled || why == grid.WhyGang
}

// refusedAttempt places a task again after a refusal: the attempt never ran, so it is not a loss.
func (c *Coordinator) refusedAttempt(now grid.Time, l *liveTask, why grid.Refusal, fx *grid.Effects) {
	if c.rankLost(now, l, why, fx) || c.forgoUnreported(now, l, fx) {
		return
	}
	c.live.release(l)
	l.job.urgency.Refused(l.expectation.Made)
	l.forgetResult() // a false worker has sent one before
	l.tries++
	c.attemptReturned(now, &l.expectation, l.task().worker, false)
	c.policies.Note(balance.Outcome{Kind: balance.Refused, At: now, Node: l.task().worker, Class: l.request.Class})
	c.discovery.Tried(now, l.task().worker, &l.job.spec.Needs, l.job.spec.Engine, false, fx)
	c.exclude(now, l, l.task().worker, why)
	if l.backup != nil {
		c.promoteBackup(now, l, fx)
		return
	}
	c.setState(l.job, l.index, grid.Pending, fx)
	c.saveEntry(l.job, l.index, fx) // else a restart would ask for the attempt and count it as lost
	c.retry(l)
}

// beatReceived renews the leases of the attempts that a worker lists, and tells it which of them are no longer live.
func (c *Coordinator) beatReceived(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	defer c.noteStatus(now, from, m, fx)
	var drop *grid.Message
	var redirected grid.JobID // the attempts of a job are adjacent
	for _, id := range m.Attempts {
		j := c.job(id.Task.Job)
		if j == nil && !c.isOver(id.Task.Job) {
			continue
		}
		if j != nil && !j.authoritative() {
			if id.Task.Job != redirected {
				c.redirect(from, j, fx)
			}
			redirected = id.Task.Job
			continue
		}
		c.adoptAttempt(now, from, id, fx)
		// the worker may know only an earlier owner
		if j != nil && j.leads() && id.Epoch < j.replica.State().Epoch && id.Task.Job != redirected {
			c.redirect(from, j, fx)
			redirected = id.Task.Job
		}
		if j != nil && j.awaitsCommit(id) {
			continue // acknowledged once it is committed
		}
		if l := c.currentAttempt(from, id); l != nil && (l.phase == offered || l.phase == placed) ||
			c.backupOf(from, id) != nil {
			c.acceptReceived(now, from, id, fx)
			continue
		}
		c.stats.Stale++
		if drop == nil {
			drop = fx.Send(from, grid.KindDrop)
		}
		drop.Attempts = append(drop.Attempts, id)
	}
}
