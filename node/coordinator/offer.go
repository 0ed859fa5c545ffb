package coordinator

import (
	"skep/balance"
	"skep/grid"
	"skep/node/coordinator/candidates"
	"skep/node/coordinator/live"
	"skep/node/decisions"
	"skep/node/peers"
)

// offer begins a new attempt on the chosen node. The attempt is on disk before the offer leaves, so a restarted owner
// knows which worker to ask.
func (c *Coordinator) offer(now grid.Time, l *liveTask, x balance.Choice, fx *grid.Effects) {
	c.offerUsing(now, l, &l.Poll, peers.Unworth(l.job.spec, l.Answers, x), fx)
	c.recycleAnswers(l)
}

// recycleAnswers returns the answer buffer of a finished decision to the scratch.
func (c *Coordinator) recycleAnswers(l *liveTask) {
	if buffer := l.Poll.Release(); buffer != nil {
		c.scratch.answers = append(c.scratch.answers, buffer)
	}
	c.weighed.Release(&l.Weighed)
}

// offerUsing is offer, with the poll answers of another task of the batch, or of a mapping event.
func (c *Coordinator) offerUsing(now grid.Time, l *liveTask, polled *candidates.Poll, x balance.Choice,
	fx *grid.Effects) {
	if !c.mayAct(now, l.job) && !c.isProvisional(l.job) || !c.mayOffer(now, l.job, l.index, fx) {
		c.waitForMajority(now, l, fx)
		return
	}
	option := polled.Option(now, x, c.need(now, l))
	if c.awaitsSlotNow(now, l, 0, fx) || c.tooLate(now, l, x.ECT, fx) || c.tooDear(now, l, option, fx) {
		return
	}
	t := l.task()
	t.Option, l.expectation.Speedup = option, l.job.spec.Needs.SpeedupOf(option)
	c.peers.Probe(now, l.class(), x.Node)
	t.Attempt = t.Next(l.job.replica.State().Epoch)
	t.Worker, t.Placed = x.Node, c.wall.At(now).UnixNano()
	l.cannotExecute, l.expectation.Made, l.asked, l.outage = nil, now, false, false
	c.peers.Start(now, &l.expectation)
	tr := grid.Trace{At: now, What: grid.TraceChosen, Node: x.Node, ECT: grid.Seconds(x.ECT),
		Asked: int32(len(polled.Polled))}
	if s := polled.AnswerOf(x.Node); s != nil {
		tr.News = now.Sub(s.Heard)
	}
	c.trace(t, tr)
	why := decisions.VerdictOf(&polled.Weighed, polled.Answers, &x)
	if l.pulled {
		why = grid.VerdictPull
	}
	c.logDecision(now, l, polled, x, why)
	c.policies.Note(balance.Outcome{Kind: balance.Placed, At: now, Node: x.Node, Class: l.request.Class})
	c.setState(l.job, l.index, grid.Offered, fx)
	c.saveEntry(l.job, l.index, fx)
	c.peers.Given(now, &l.expectation, l.level(), x.Node, x.ECT)
	c.peers.Fetches(now, x.Node, l.job.spec)
	l.job.account.Reserve(now, l.id(), c.expectedUse(l.job, l.index, l.level(), l.expectation.Speedup), fx)
	if !c.mayAct(now, l.job) {
		c.planOffer(now, l, x.ECT, fx)
		return
	}
	c.sendFirstOffer(now, l, fx)
	c.taskOffered(now, l.job, l.index, fx)
}

// sendFirstOffer sends the first offer of an attempt whose record is on disk, or will be when the message leaves.
func (c *Coordinator) sendFirstOffer(now grid.Time, l *liveTask, fx *grid.Effects) {
	c.countPlaced(l.task().Worker)
	c.live.Offer(l)
	c.renewLease(now, l, fx)
	c.sendOffer(now, l, fx)
}

// sendOffer sends an offer, or repeats it when no answer came; the worker recognises a repeated offer.
func (c *Coordinator) sendOffer(now grid.Time, l *liveTask, fx *grid.Effects) {
	l.Sent = now
	if !c.mayAct(now, l.job) { // without a quorum lease nothing is sent; try again later
		fx.Wake(now.Add(c.cfg.Lease/4), grid.TimerOffer, l.Key())
		return
	}
	m := fx.Send(l.task().Worker, grid.KindOffer)
	m.Offer = grid.Offer{ID: l.id(), Spec: l.job.spec, Class: l.class(), Lease: c.cfg.Lease, Age: l.age(now),
		Members: m.Offer.Members, Barred: l.Barred(c.peers.Blacklist(l.class()), m.Offer.Barred),
		Inputs: c.inputsLeft(l)}
	m.Offer.Stamp, m.Offer.Places, m.Offer.Option = c.offerStamp(now, l), l.job.rankPlaces(), l.task().Option
	m.Offer.Before = c.checkpoints.Before(l.job.spec, l.id())
	l.job.vouch(&m.Offer, l.task().Worker)
	m.Offer.Stays, m.Offer.Pulled, m.Offer.Asks = l.stays() || l.job.spec.IsGang(), l.pulled, true
	l.pulled = false
	c.wakeForOffer(now, l, l.task().Worker, fx)
}

// wakeForOffer sets the timer that repeats an unanswered offer.
func (c *Coordinator) wakeForOffer(now grid.Time, l *liveTask, worker grid.NodeID, fx *grid.Effects) {
	if at := c.leaseEnd(now, worker, c.cfg.Lease/4); at < grid.Never {
		fx.Wake(at, grid.TimerOffer, l.Key())
	}
}

// countPlaced counts an attempt placed here or elsewhere.
func (c *Coordinator) countPlaced(worker grid.NodeID) {
	if c.isHere(worker) {
		c.stats.Local++
	} else {
		c.stats.Moved++
	}
}

// currentAttempt returns the live task whose current attempt is id and was given to from; nil if there is none.
func (c *Coordinator) currentAttempt(from grid.NodeID, id grid.AttemptID) *liveTask {
	l := c.liveTask(id.Task)
	if l == nil || l.task().Attempt != id.Attempt || l.task().Worker != from {
		return nil
	}
	return l
}

func (c *Coordinator) acceptReceived(now grid.Time, from grid.NodeID, id grid.AttemptID, fx *grid.Effects) {
	if l := c.backupOf(from, id); l != nil {
		c.backupAccepted(now, l, fx)
		return
	}
	l := c.currentAttempt(from, id)
	if l == nil || l.Phase() != live.Offered && l.Phase() != live.Placed {
		c.dropStale(from, id, fx)
		return
	}
	if l.Phase() == live.Offered {
		c.markPlaced(now, l, fx)
	}
	l.deadline, l.asked, l.outage = max(l.deadline, now.Add(c.cfg.Lease)), false, false
	c.rankPlaced(now, l, fx)
}

// markPlaced records that the worker has accepted the attempt.
func (c *Coordinator) markPlaced(now grid.Time, l *liveTask, fx *grid.Effects) {
	c.live.Accept(l)
	l.tries, l.expectation.Accepted = 0, true
	c.discovery.Tried(now, l.task().Worker, &l.job.spec.Needs, l.job.spec.Engine, true, fx)
	c.setState(l.job, l.index, grid.Placed, fx)
	c.backups.due = true
	c.traceAccepted(now, l.task(), l.task().Worker)
}

// traceAccepted records that a worker has accepted an attempt. That this node has says nothing: it was chosen.
func (c *Coordinator) traceAccepted(now grid.Time, t *task, worker grid.NodeID) {
	if !c.isHere(worker) {
		c.trace(t, grid.Trace{At: now, What: grid.TraceAccepted, Node: worker})
	}
}

// refuseReceived handles a worker's refusal of an attempt, or its report that it does not have the attempt.
func (c *Coordinator) refuseReceived(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	id, why := m.Attempts[0], m.Refusal
	if (why.Why.NeverStarted() || why.Why == grid.WhyMoved) && from != c.cfg.Self {
		c.acknowledgeHandBack(from, id, fx)
	}
	if c.confirmStopped(now, from, id, fx) {
		return
	}
	if l := c.backupOf(from, id); l != nil {
		c.dropBackup(now, l, why, l.backup.accepted && !why.Why.NeverStarted(), fx)
		return
	}
	l := c.currentAttempt(from, id)
	if l == nil || l.Phase() != live.Offered && l.Phase() != live.Placed || l.isReplicating() {
		c.stats.Stale++
		return
	}
	if l.Phase() == live.Offered { // the offer may have been sent twice, and the repeat still be under way
		c.startsPossible(now, l.job, from)
	}
	why = c.peers.Priced(now, from, l.job.spec, l.level(), l.task().Option, m)
	c.logPrices(now, l, from, m)
	switch {
	case l.wasPulled(from, why.Why, m.Puller):
		c.pulledAway(now, l, from, m.Puller, fx)
	case l.Phase() == live.Offered || why.Why.NeverStarted():
		c.refusedAttempt(now, l, why, fx)
	case why.Why != grid.WhyMoved || !c.movedAway(now, l, fx):
		c.attemptLost(now, l, why, fx)
	}
}

// refusedAttempt places a task again after a refusal: the attempt never ran, so it is not a loss.
func (c *Coordinator) refusedAttempt(now grid.Time, l *liveTask, why grid.Refusal, fx *grid.Effects) {
	if c.rankLost(now, l, why, fx) || c.forgoUnreported(now, l, fx) {
		return
	}
	c.live.Release(l)
	l.job.urgency.Refused(l.expectation.Made)
	l.forgetResult() // a false worker has sent one before
	l.tries++
	c.attemptReturned(now, &l.expectation, l.task().Worker, false)
	c.peers.StopsFetching(l.task().Worker, l.job.spec)
	c.policies.Note(balance.Outcome{Kind: balance.Refused, At: now, Node: l.task().Worker, Class: l.request.Class})
	c.discovery.Tried(now, l.task().Worker, &l.job.spec.Needs, l.job.spec.Engine, false, fx)
	c.excludeRefusing(now, l, l.task().Worker, why)
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
		if l := c.currentAttempt(from, id); l != nil && (l.Phase() == live.Offered || l.Phase() == live.Placed) ||
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
