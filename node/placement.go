package node

import (
	"slices"

	"skep/balance"
	"skep/grid"
)

// place begins a placement decision: it collects the eligible nodes and polls those that the policy names.
func (c *coordinator) place(now grid.Time, l *liveTask, fx *grid.Effects) {
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
	c.inform(now)
	c.updateColumns(now)
	l.request.ID = l.id()
	if k := len(c.scratch.answers); l.answers == nil && k > 0 {
		l.answers, c.scratch.answers = c.scratch.answers[k-1], c.scratch.answers[:k-1]
	}
	l.polled, l.answers = l.polled[:0], l.answers[:0]
	v, onProbation := c.candidates(now, l)
	c.traceBlacklisted(now, l)
	switch {
	case onProbation > 0 && (len(v.Nodes) == 0 || len(v.Nodes) == 1 && v.Nodes[0].Node == c.cfg.Self && v.Nodes[0].Ready > 0):
		c.pauseTask(now, l, grid.Refusal{Why: grid.WhyUnproven}, fx)
	case len(v.Nodes) == 0:
		c.noCandidate(now, l, fx)
	case len(v.Nodes) == 1 && v.Nodes[0].Node != c.cfg.Self && !c.awaitsIdleNode(l.job): // polling the only candidate would cost a round trip and decide nothing
		l.answers = append(l.answers, v.Nodes[0])
		c.choose(now, l, fx)
	default:
		c.poll(now, l, v, fx)
	}
}

// poll asks the nodes that the policy names, and chooses at once if no answer is awaited.
func (c *coordinator) poll(now grid.Time, l *liveTask, v balance.View, fx *grid.Effects) {
	p := c.policyOf(l.job)
	ids := p.Poll(now, &l.request, v, c.scratch.poll[:0])
	c.scratch.poll = ids
	if len(ids) == 0 && len(l.answers) == 0 {
		l.answers = append(l.answers, v.Nodes...)
	}
	l.unanswered = l.unanswered[:0]
	l.round++
	c.rates.Publish(now)
	own, version := c.rates.Published()
	for _, id := range ids {
		if id == c.cfg.Self {
			l.answers = append(l.answers, c.selfState(now, l.job.spec.Needs.Resources, l.class()))
			continue
		}
		q := c.peers.get(id)
		if q == nil || !q.up {
			continue
		}
		l.polled = append(l.polled, id)
		l.unanswered = append(l.unanswered, id)
		m := fx.Send(id, grid.KindPoll)
		m.Poll.ID, m.Poll.Class, m.Poll.Needs = l.handle<<8|uint64(l.round), l.class(), l.job.spec.Needs.Resources
		m.Poll.Speed, m.Poll.Cores, m.Poll.Mine, m.Poll.Have = c.cfg.Speed, c.cfg.Capacity.CPU, version, q.theirVersion
		if q.ourVersion != version {
			m.Poll.Rates = append(m.Poll.Rates, own...)
		}
	}
	l.sent = now
	if len(l.unanswered) == 0 {
		c.choose(now, l, fx)
		return
	}
	c.live.become(l, polling)
	if _, batch := p.(balance.Batch); batch {
		l.job.batchPoll = l
	}
	l.deadline = now.Add(min(max(2*c.roundTrip(l.polled), c.cfg.PollFloor), c.cfg.PollCap))
	fx.Wake(l.deadline, grid.TimerPoll, l.handle)
}

// pollAnswered handles an answer to a poll and the rates that came with it.
func (c *coordinator) pollAnswered(now grid.Time, from grid.NodeID, s *grid.State, fx *grid.Effects) {
	q := c.peers.get(from)
	if q == nil {
		return
	}
	l := c.live.get(s.ID >> 8)
	if l != nil && l.phase == polling && l.round == uint8(s.ID) && !slices.Contains(l.polled, from) {
		c.countOffence(from, fx)
		return
	}
	c.gossip.Answered(from, s.Free, s.Backlog)
	c.exchangeRates(q, s.Rates, s.Speed, s.Cores, s.Mine, s.Have)
	q.stamp = max(q.stamp, s.Stamp)
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
		ect := c.records.Of(from).CompletionTime(now, max(s.ECT, 0).Seconds()+c.rates.Overhead(),
			c.expected(l.class()), c.rates.MinRunTime(l.class(), c.claims))
		l.answers = append(l.answers, balance.State{Node: from, ECT: ect,
			Ready: max(s.Backlog, 0).Seconds(), RTT: rtt, Heard: now, Site: q.site,
			Waiting: s.Waiting, Running: s.Running, Ran: s.Ran.Seconds(), Rest: s.Rest.Seconds(), Whole: !c.cfg.Balance.Rest,
			Fetch: c.fetchTime(l.job.spec)})
	}
	if len(l.unanswered) == 0 {
		c.choose(now, l, fx)
	}
}

// choose lets the policy decide with the answers received so far.
func (c *coordinator) choose(now grid.Time, l *liveTask, fx *grid.Effects) {
	c.live.become(l, idle)
	c.updateColumns(now)
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
func (c *coordinator) keptByPolicy(now grid.Time, l *liveTask, fx *grid.Effects) {
	if why := c.fitsSelf(l.job.spec); c.isLocal(l.job) && (why.Why.Never() || l.neverFits(c.cfg.Self)) {
		c.giveUp(now, l, fx)
		return
	}
	c.pauseTask(now, l, grid.Refusal{Why: grid.WhyPolicy}, fx)
}
