package coordinator

import (
	"cmp"
	"slices"

	"skep/grid"
	"skep/node/gangs"
	"skep/node/peers"
)

// Gangs: jobs whose ranks are placed all or none (package gangs). Their tasks are live only while they have an attempt.

// gangWaits reports whether the job is a gang whose ranks have no workers, and that goes on by itself.
func (j *job) gangWaits() bool { return j.gang != nil && j.gang.Phase() <= gangs.Reserving }

// gangNodes returns the nodes for a gang's ranks, and for how many each has slots; could as in [gangs.Gang.Rooms].
func (c *Coordinator) gangNodes(now grid.Time, j *job) (nodes []grid.GangNode, rooms []int, could int) {
	nodes = c.peers.GangNodes(now, &peers.Need{Spec: j.spec, Class: j.class, Foreign: !c.isOrigin(j.id),
		Held: j.held()})
	if c.isLocal(j.spec) {
		nodes = slices.DeleteFunc(nodes, func(n grid.GangNode) bool { return n.Node != c.cfg.Self })
	}
	rooms, could = j.gang.Rooms(now, j.count(), j.spec.Needs.Resources, nodes)
	return nodes, rooms, could
}

// placeGang begins a round for the gang at the front of the queue: its workers are chosen and asked for slots.
func (c *Coordinator) placeGang(now grid.Time, j *job, fx *grid.Effects) {
	c.queue.turns.Pop()
	if j.tasks.In(grid.Pending) < j.count() { // it has its workers, or has ended, all of it or in part
		if j.tasks.In(grid.Pending)+j.tasks.In(grid.Ended) == j.count() {
			c.settleGang(now, j, fx)
		}
		return
	}
	j.setAside = true
	g := c.gangOf(j)
	switch {
	case g.Phase() != gangs.Waiting || now < g.Due:
		return
	case c.queue.gangs.Wait(j):
		return
	}
	if c.gangTooLate(now, j, fx) {
		return
	}
	nodes, rooms, could := c.gangNodes(now, j)
	size := g.Size(&j.spec.Gang)
	if could < size.Min {
		c.gangUnplaceable(now, j, nodes, gangs.TooLarge(nodes, size.Min, could, c.peers.Name), fx)
		return
	}
	chooser, err := gangChooser(&j.spec.Gang, g.Later())
	if err != nil { // its origin knows models that this node does not
		c.endGangUnplaceable(now, j, err.Error(), fx)
		return
	}
	choice := j.chooseWorkers(now, chooser, nodes, rooms)
	if choice.Places == nil {
		c.gangNotChosen(now, j, chooser, nodes, rooms, choice.Why, fx)
		return
	}
	c.beginRound(now, j, choice, fx)
}

// beginRound asks the chosen workers for slots.
func (c *Coordinator) beginRound(now grid.Time, j *job, choice gangs.Choice, fx *grid.Effects) {
	g, round := j.gang, j.contract.AsksAhead()
	if round == 0 { // else some workers keep slots in it
		round = c.queue.gangs.Next()
	}
	g.Reserve(j.nextAttempt(choice.Ranks()), choice, round, now.Add(c.cfg.PollCap))
	if choice.Why != "" {
		c.trace(j.tasks.At(0), grid.Trace{At: now, What: grid.TraceScheduled, ECT: grid.Seconds(choice.Time),
			Refusal: grid.Refusal{Detail: clip(choice.Why)}})
	}
	if g.Later() {
		g.Due = now.Add(gangs.TTL)
	}
	c.queue.gangs.Begin(j)
	for _, p := range choice.Places {
		c.askForSlots(now, j, p.Node, p.Ranks, fx)
	}
	fx.Wake(g.Due, grid.TimerGang, g.Handle)
}

// gangNotChosen handles a round in which no workers could be chosen. Where none could if all slots were free, the gang
// waits for other nodes, and ends.
func (c *Coordinator) gangNotChosen(now grid.Time, j *job, chooser gangs.Chooser, nodes []grid.GangNode, rooms []int,
	why string, fx *grid.Effects) {
	if why == "" {
		why = gangs.Lacks(nodes, rooms, int(j.spec.Gang.Fewest()), c.peers.Name)
	} else if x := j.chooseIdle(chooser, nodes); x.Places == nil {
		c.gangUnplaceable(now, j, nodes, cmp.Or(x.Why, why), fx)
		return
	}
	j.gang.GiveUp()
	c.pauseGang(now, j, why, fx)
}

// askForSlots asks a worker to keep slots for so many ranks; 0 = no longer.
func (c *Coordinator) askForSlots(now grid.Time, j *job, to grid.NodeID, ranks uint32, fx *grid.Effects) {
	fx.Send(to, grid.KindReserve).Reserve = &grid.Reserve{Job: j.id, Attempt: j.gang.Attempt(), Round: j.gang.Round(),
		Ranks: ranks, Needs: j.spec.Needs.Resources, TTL: gangs.TTL, Age: max(now.Sub(j.arrived), 0), Later: j.gang.Later()}
}

// slotsAnswered handles a worker's answer: when all workers keep the slots, the ranks are offered.
func (c *Coordinator) slotsAnswered(now grid.Time, from grid.NodeID, r *grid.Reserve, fx *grid.Effects) {
	if r == nil {
		c.stats.Stale++
		return
	}
	j := c.jobs.Get(r.Job)
	switch {
	case j != nil && j.gang != nil && j.contract.Answers(from, r) && j.gang.Phase() == gangs.Running:
		c.answeredAhead(now, j, from, r, fx)
	case r.Refusal.Why == grid.WhyHandOver && j != nil && j.gang != nil && !j.cancelled && j.gang.HandOver(now, from, r):
		c.requeueJob(j)
	case j == nil || j.gang == nil || r.Round != j.gang.Round() || r.Refusal.Why == grid.WhyHandOver ||
		j.gang.Phase() != gangs.Reserving && r.Refusal.Why == grid.WhyNone:
		c.stats.Stale++
	case r.Refusal.Why == grid.WhyNone && !j.gang.Kept(from, r):
	case r.Refusal.Why == grid.WhyNone && c.mayAct(now, j):
		c.offerGang(now, j, fx)
	case r.Refusal.Why == grid.WhyNone || j.gang.Refused(now, from, r):
		c.giveUpGang(now, j, fx)
	}
}

// offerGang offers all ranks in the slots that are kept for them. Their attempts, of one number, are on disk before.
func (c *Coordinator) offerGang(now grid.Time, j *job, fx *grid.Effects) {
	g, i, places := j.gang, uint32(0), j.gang.Places()
	g.Offer(now.Add(c.cfg.Lease))
	c.dequeueJob(j)
	for _, p := range places {
		for range p.Ranks {
			l := c.newLiveTask(j, i)
			t := l.task()
			t.Attempt, t.Worker, t.Placed = g.Attempt(), p.Node, c.wall.At(now).UnixNano()
			l.request.ID, l.request.Class, l.expectation.Made = l.id(), c.peers.Told(j.level), now
			c.peers.Start(now, &l.expectation)
			c.trace(t, grid.Trace{At: now, What: grid.TraceChosen, Node: p.Node, Asked: int32(len(places))})
			c.setState(j, i, grid.Offered, fx)
			c.saveEntry(j, i, fx)
			c.peers.Given(now, &l.expectation, l.level(), p.Node, c.peers.Expected(l.level()))
			l.job.account.Reserve(now, l.id(), c.expectedUse(l.job, l.index, l.level(), 1), fx)
			c.sendFirstOffer(now, l, fx)
			i++
		}
	}
	fx.Wake(g.Due, grid.TimerGang, g.Handle)
}

// rankPlaced records that a worker has a rank. When all ranks have a place they get their start leases.
func (c *Coordinator) rankPlaced(now grid.Time, l *liveTask, fx *grid.Effects) {
	g := l.job.gang
	if g == nil || l.task().Attempt != g.Attempt() || !g.Confirm(l.index) || !c.mayAct(now, l.job) ||
		l.job.replica.graceUntil != 0 { // a newer attempt may be reported still
		return
	}
	g.Start()
	l.job.contract.Start(now, l.job.spec.Gang.Terms(), c.cfg.Lease/3+grid.ProgressEvery)
	c.countTurns(now, l.job, int(g.Ranks()))
	c.endTurn(l.job)
	for i := range l.job.spec.Count {
		o := l.job.at(i).Live
		if o == nil || !o.mayStart() { // nil: it has ended
			continue
		}
		worker := o.task().Worker
		if stamp := c.peers.Stamp(now, worker); stamp != 0 {
			m := fx.Send(worker, grid.KindStartLeaseAck)
			m.Register.Seq, m.Attempts = stamp, append(m.Attempts, o.id())
		}
	}
}

// giveUpGang gives up what a gang has of which nothing can have started, and pauses.
func (c *Coordinator) giveUpGang(now grid.Time, j *job, fx *grid.Effects) {
	g := j.gang
	for _, r := range g.Held {
		why := r.Why
		if r.Holder != (grid.JobID{}) {
			why.Detail = "job " + r.Holder.Short()
		}
		c.trace(j.tasks.At(0), grid.Trace{At: now, What: grid.TraceRefused, Node: r.Node, Refusal: why})
	}
	c.releaseSlots(now, j, fx)
	c.dropRanks(now, j, fx)
	why := gangs.Why(g.Held, c.peers.Name)
	g.GiveUp()
	c.pauseGang(now, j, why, fx)
}

// releaseSlots tells the workers that slots which are not used yet are not wanted any more.
func (c *Coordinator) releaseSlots(now grid.Time, j *job, fx *grid.Effects) {
	for _, p := range j.gang.Places() {
		c.askForSlots(now, j, p.Node, 0, fx)
	}
	j.contract.Stay(now, fx)
	c.endTurn(j)
}

// dropRanks takes the ranks back from their workers: they are pending again.
func (c *Coordinator) dropRanks(now grid.Time, j *job, fx *grid.Effects) {
	for i := range j.spec.Count {
		if l := j.at(i).Live; l != nil {
			c.dropRank(now, l, fx)
		}
	}
}

// dropRank takes a rank back from its worker: it is pending again.
func (c *Coordinator) dropRank(now grid.Time, l *liveTask, fx *grid.Effects) {
	c.dequeue(l)
	c.live.Release(l)
	l.forgetResult()
	c.attemptReturned(now, &l.expectation, l.task().Worker, false)
	c.dropAttempt(now, l, l.task().Worker, l.id(), fx)
	c.setState(l.job, l.index, grid.Pending, fx)
	c.saveEntry(l.job, l.index, fx)
	c.dropLive(l)
}

// pauseGang has a gang wait before its next round, and records why.
func (c *Coordinator) pauseGang(now grid.Time, j *job, why string, fx *grid.Effects) {
	j.gang.Rest(now, c.gangRand)
	c.awaitGang(now, j, grid.Refusal{Why: grid.WhyGang, Detail: clip(why)}, fx)
}

// awaitGang sets a waiting gang aside until it is due. In a takeover grace nothing is placed, and its end goes on.
func (c *Coordinator) awaitGang(now grid.Time, j *job, why grid.Refusal, fx *grid.Effects) {
	c.traceWait(now, j.tasks.At(0), why)
	if j.replica.graceUntil != 0 || j.BulkEnd().On() {
		return
	}
	if !j.setAside {
		c.enqueueJob(j)
		c.queue.turns.Remove(j.line, j.queueIndex-1)
		j.setAside = true
	}
	fx.Wake(j.gang.Due, grid.TimerGang, j.gang.Handle)
}
