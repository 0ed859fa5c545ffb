package coordinator

import (
	"cmp"
	"slices"

	"skep/balance"
	"skep/grid"
)

// place begins a placement decision: it collects the eligible nodes and polls those that the policy names.
func (c *Coordinator) place(now grid.Time, l *liveTask, fx *grid.Effects) {
	switch may := c.mayAct(now, l.job); {
	case l.planned && may:
		c.sendPlanned(now, l, fx)
		return
	case l.planned:
		c.keepPlanned(now, l, fx)
		return
	case !may && !c.isProvisional(l.job):
		c.waitForMajority(now, l, fx)
		return
	}
	c.peers.Inform(now)
	c.peers.UpdateColumns(now)
	l.request.ID, l.request.Class = l.id(), c.peers.Told(l.level())
	if k := len(c.scratch.answers); l.answers == nil && k > 0 {
		l.answers, c.scratch.answers = c.scratch.answers[k-1], c.scratch.answers[:k-1]
	}
	l.polled, l.answers = l.polled[:0], l.answers[:0]
	l.candidates.Reset()
	v, onProbation := c.candidates(now, l)
	c.traceBlacklisted(now, l)
	switch {
	case onProbation > 0 && (len(v.Nodes) == 0 || len(v.Nodes) == 1 && v.Nodes[0].Node == c.cfg.Self &&
		v.Nodes[0].Ready > 0):
		c.pauseTask(now, l, grid.Refusal{Why: grid.WhyUnproven}, fx)
	case len(v.Nodes) == 0:
		c.noCandidate(now, l, fx)
	// polling the only candidate would cost a round trip and decide nothing
	case len(v.Nodes) == 1 && v.Nodes[0].Node != c.cfg.Self && !c.awaitsIdleNode(l.job):
		l.answers = append(l.answers, v.Nodes[0])
		c.choose(now, l, fx)
	default:
		c.poll(now, l, v, fx)
	}
}

// poll asks the nodes that the policy names, and chooses at once if no answer is awaited.
func (c *Coordinator) poll(now grid.Time, l *liveTask, v balance.View, fx *grid.Effects) {
	p := c.policyOf(l.job)
	c.weighed.Note(&l.candidates, v.Nodes)
	ids := p.Poll(now, &l.request, v, c.scratch.poll[:0])
	c.scratch.poll = ids
	if len(ids) == 0 && len(l.answers) == 0 {
		l.answers = append(l.answers, v.Nodes...)
	}
	l.unanswered = l.unanswered[:0]
	l.round++
	c.peers.PublishRates(now)
	for _, id := range ids {
		if id == c.cfg.Self {
			l.answers = append(l.answers, c.selfState(now, l.job.spec.Needs.Resources, l.level()))
			continue
		}
		m := c.peers.Ask(id, l.level(), fx)
		if m == nil {
			continue
		}
		l.polled = append(l.polled, id)
		l.unanswered = append(l.unanswered, id)
		m.Poll.ID, m.Poll.Needs = l.handle<<8|uint64(l.round), l.job.spec.Needs.Resources
	}
	l.sent = now
	if !c.awaitsAnswers(now, l) {
		c.choose(now, l, fx)
		return
	}
	c.live.poll(l)
	if _, batch := p.(balance.Batch); batch {
		l.job.batchPoll = l
	}
	l.deadline = now.Add(min(max(2*c.peers.RoundTrip(l.polled), c.cfg.PollFloor), c.cfg.PollCap))
	fx.Wake(l.deadline, grid.TimerPoll, l.handle)
}

// pollAnswered handles an answer to a poll and the rates that came with it.
func (c *Coordinator) pollAnswered(now grid.Time, from grid.NodeID, s *grid.State, fx *grid.Effects) {
	if !c.peers.Knows(from) {
		return
	}
	l := c.live.get(s.ID >> 8)
	if l != nil && l.phase == polling && l.round == uint8(s.ID) && !slices.Contains(l.polled, from) {
		c.countOffence(from, fx)
		return
	}
	c.peers.Answered(from, s)
	if l == nil || l.phase != polling || l.round != uint8(s.ID) || !l.answeredBy(from) {
		c.stats.Stale++
		if l != nil && l.phase == waiting && l.round == uint8(s.ID) && slices.Contains(l.polled, from) {
			c.gossip.Heard(now, from, now.Sub(l.sent)) // else the next poll would time out as early
		}
		return
	}
	rtt := now.Sub(l.sent)
	c.gossip.Heard(now, from, rtt)
	if s.Why != grid.WhyNone {
		c.exclude(now, l, from, grid.Refusal{Why: s.Why})
	} else {
		l.answers = append(l.answers, c.peers.Answer(now, from, l.level(), l.job.spec, s, rtt))
	}
	if !c.awaitsAnswers(now, l) {
		c.choose(now, l, fx)
	}
}

// awaitsAnswers reports whether the answer of a node that was polled could still be the best.
func (c *Coordinator) awaitsAnswers(now grid.Time, l *liveTask) bool {
	if len(l.answers) == 0 {
		return len(l.unanswered) > 0
	}
	best := slices.MinFunc(l.answers, func(a, b balance.State) int { return cmp.Compare(a.ECT, b.ECT) }).ECT
	return slices.ContainsFunc(l.unanswered, func(id grid.NodeID) bool {
		return c.peers.CouldWin(now, id, l.job.spec, l.class(), l.sent, best)
	})
}

// choose lets the policy decide with the answers received so far.
func (c *Coordinator) choose(now grid.Time, l *liveTask, fx *grid.Effects) {
	c.live.release(l)
	c.peers.UpdateColumns(now)
	c.dropBlacklisted(now, l)
	p := c.policyOf(l.job)
	if c.assignBatch(now, l, p, fx) {
		return
	}
	x := p.Choose(now, &l.request, l.answers)
	switch x.Act {
	case balance.Place:
		c.offer(now, l, x, fx)
	case balance.PollMore:
		if v := c.moreCandidates(now, l); len(v.Nodes) > 0 {
			c.poll(now, l, v, fx)
			return
		}
		fallthrough
	default:
		c.keptByPolicy(now, l, fx)
	}
}

// keptByPolicy handles a task that the policy does not place. The local policy never sends a task away, so a task that
// this node can never run ends.
func (c *Coordinator) keptByPolicy(now grid.Time, l *liveTask, fx *grid.Effects) {
	if why := c.FitsSelf(l.job.spec); c.isLocal(l.job) && (why.Why.Never() || l.NeverFits(c.cfg.Self)) {
		c.giveUp(now, l, fx)
		return
	}
	c.pauseTask(now, l, grid.Refusal{Why: grid.WhyPolicy}, fx)
	c.logDecision(now, l, l, balance.Choice{}, grid.VerdictKept)
	c.weighed.Release(&l.candidates)
}

// policy returns the named policy, "" = the node's default.
func (c *Coordinator) policy(name string) (balance.Policy, error) {
	name = cmp.Or(name, c.cfg.Policy)
	p, err := c.policies.Get(name)
	if c.policies.Crowded() {
		c.policies.Keep(c.policiesNeeded(name))
	}
	return p, err
}

// policiesNeeded returns the names of the policies that unfinished jobs name, of the default and of the newest.
func (c *Coordinator) policiesNeeded(newest string) map[string]bool {
	named := map[string]bool{c.cfg.Policy: true, newest: true}
	for j := range c.jobs.All() {
		if j.counts[grid.Ended] < j.count() {
			named[j.spec.Policy] = true
		}
	}
	return named
}

// policyOf returns the policy that places a job's tasks: the node's default if a job from disk names one that this
// version does not have.
func (c *Coordinator) policyOf(j *job) balance.Policy {
	p, err := c.policy(j.spec.Policy)
	if err != nil {
		p, _ = c.policy("")
	}
	return p
}

// Batch policies assign many tasks of a job at once. One task polls for all: its answers place every task not yet
// tried, up to the node's window. Younger tasks wait for the answers, and the next round starts when half of the
// window is free, so that rounds stay large. A task that is placed again polls for itself, since it may exclude
// nodes, and takes other tasks along where it can.

// awaitsBatch reports whether the job's untried tasks wait for a batch poll.
func (c *Coordinator) awaitsBatch(j *job) bool {
	_, many := c.policyOf(j).(balance.Batch)
	return many && (j.batchPoll != nil || j.spec.Count > 1 && 2*c.live.inFlight > c.cfg.Window)
}

// assignBatch places a task, and other tasks of its job, with the task's answers. It reports false if the policy is
// no batch policy or has no node for the task. A node on probation gets no further task.
func (c *Coordinator) assignBatch(now grid.Time, l *liveTask, p balance.Policy, fx *grid.Effects) bool {
	b, many := p.(balance.Batch)
	if !many {
		return false
	}
	j := l.job
	group, tasks := append(c.scratch.group[:0], l), append(c.scratch.tasks[:0], &l.request)
	for i := j.nextFresh; i < j.spec.Count && c.live.inFlight+len(group) < c.cfg.Window; i++ {
		if t := j.at(i); t.state == grid.Pending && t.live == nil {
			x := c.newLiveTask(j, i)
			x.request.ID = x.id()
			group, tasks = append(group, x), append(tasks, &x.request)
		}
	}
	c.scratch.group, c.scratch.tasks = group, tasks
	choices := b.Assign(now, tasks, l.answers, c.scratch.choices[:0])
	c.scratch.choices = choices
	placed := choices[0].Act == balance.Place
	for k, x := range group {
		switch {
		case placed && choices[k].Act == balance.Place && (x == l || c.mayTakeMore(now, choices[k].Node)):
			c.offerUsing(now, x, l, choices[k], fx)
		case x != l:
			c.live.drop(x) // as if it had never been tried
			j.task(x.index).live = nil
		}
	}
	if placed {
		c.recycleAnswers(l)
	}
	clear(group)
	clear(tasks)
	return placed
}

// mayTakeMore reports whether a node may get another task now: it is known and not on probation.
func (c *Coordinator) mayTakeMore(now grid.Time, id grid.NodeID) bool {
	return id == c.cfg.Self || !c.peers.OnProbation(now, id)
}
