package node

import (
	"slices"

	"skep/balance"
	"skep/grid"
)

// place begins a placement decision: it collects the eligible nodes and polls those that the policy names.
func (n *Node) place(now grid.Time, l *liveTask, fx *grid.Effects) {
	switch may := n.mayAct(now, l.job); {
	case l.planned && may:
		n.sendPlanned(now, l, fx)
		return
	case l.planned:
		n.keepPlanned(now, l, fx)
		return
	case !may && !n.isProvisional(l.job):
		n.waitForMajority(now, l, fx)
		return
	}
	n.inform(now)
	n.updateColumns(now)
	l.request.ID = l.id()
	if k := len(n.scratch.answers); l.answers == nil && k > 0 {
		l.answers, n.scratch.answers = n.scratch.answers[k-1], n.scratch.answers[:k-1]
	}
	l.polled, l.answers = l.polled[:0], l.answers[:0]
	v, onProbation := n.candidates(now, l)
	n.traceBlacklisted(now, l)
	switch {
	case onProbation > 0 && (len(v.Nodes) == 0 || len(v.Nodes) == 1 && v.Nodes[0].Node == n.cfg.Self && v.Nodes[0].Ready > 0):
		n.pauseTask(now, l, grid.Refusal{Why: grid.WhyUnproven}, fx)
	case len(v.Nodes) == 0:
		n.noCandidate(now, l, fx)
	case len(v.Nodes) == 1 && v.Nodes[0].Node != n.cfg.Self && !n.awaitsIdleNode(l.job): // polling the only candidate would cost a round trip and decide nothing
		l.answers = append(l.answers, v.Nodes[0])
		n.choose(now, l, fx)
	default:
		n.poll(now, l, v, fx)
	}
}

// poll asks the nodes that the policy names, and chooses at once if no answer is awaited.
func (n *Node) poll(now grid.Time, l *liveTask, v balance.View, fx *grid.Effects) {
	p := n.policyOf(l.job)
	ids := p.Poll(now, &l.request, v, n.scratch.poll[:0])
	n.scratch.poll = ids
	if len(ids) == 0 && len(l.answers) == 0 {
		l.answers = append(l.answers, v.Nodes...)
	}
	l.unanswered = l.unanswered[:0]
	l.round++
	n.rates.Publish(now)
	own, version := n.rates.Published()
	for _, id := range ids {
		if id == n.cfg.Self {
			l.answers = append(l.answers, n.selfState(now, l.job.spec.Needs.Resources, l.class()))
			continue
		}
		q := n.peers.get(id)
		if q == nil || !q.up {
			continue
		}
		l.polled = append(l.polled, id)
		l.unanswered = append(l.unanswered, id)
		m := fx.Send(id, grid.KindPoll)
		m.Poll.ID, m.Poll.Class, m.Poll.Needs = l.handle<<8|uint64(l.round), l.class(), l.job.spec.Needs.Resources
		m.Poll.Speed, m.Poll.Cores, m.Poll.Mine, m.Poll.Have = n.cfg.Speed, n.cfg.Capacity.CPU, version, q.theirVersion
		if q.ourVersion != version {
			m.Poll.Rates = append(m.Poll.Rates, own...)
		}
	}
	l.sent = now
	if len(l.unanswered) == 0 {
		n.choose(now, l, fx)
		return
	}
	l.phase = polling
	n.inFlight++
	if _, batch := p.(balance.Batch); batch {
		l.job.batchPoll = l
	}
	l.deadline = now.Add(min(max(2*n.roundTrip(l.polled), n.cfg.PollFloor), n.cfg.PollCap))
	fx.Wake(l.deadline, grid.TimerPoll, l.handle)
}

// pollAnswered handles an answer to a poll and the rates that came with it.
func (n *Node) pollAnswered(now grid.Time, from grid.NodeID, s *grid.State, fx *grid.Effects) {
	q := n.peers.get(from)
	if q == nil {
		return
	}
	l := n.live.Get(s.ID >> 8)
	if l != nil && l.phase == polling && l.round == uint8(s.ID) && !slices.Contains(l.polled, from) {
		n.countOffence(from, fx)
		return
	}
	n.gossip.Answered(from, s.Free, s.Backlog)
	n.exchangeRates(q, s.Rates, s.Speed, s.Cores, s.Mine, s.Have)
	q.stamp = max(q.stamp, s.Stamp)
	if l == nil || l.phase != polling || l.round != uint8(s.ID) || !l.answeredBy(from) {
		n.stats.Stale++
		if l != nil && l.phase == waiting && l.round == uint8(s.ID) && slices.Contains(l.polled, from) {
			n.gossip.Heard(now, from, now.Sub(l.sent)) // else the next poll would time out as early
		}
		return
	}
	rtt := now.Sub(l.sent)
	n.gossip.Heard(now, from, rtt)
	if s.Why != grid.WhyNone {
		n.exclude(now, l, from, grid.Refusal{Why: s.Why})
	} else {
		ect := n.records.Of(from).CompletionTime(now, max(s.ECT, 0).Seconds()+n.rates.Overhead(),
			n.expected(l.class()), n.rates.MinRunTime(l.class(), n.claims))
		l.answers = append(l.answers, balance.State{Node: from, ECT: ect,
			Ready: max(s.Backlog, 0).Seconds(), RTT: rtt, Heard: now, Site: q.site,
			Waiting: s.Waiting, Running: s.Running, Ran: s.Ran.Seconds(), Rest: s.Rest.Seconds(), Whole: !n.cfg.Balance.Rest,
			Fetch: n.fetchTime(l.job.spec)})
	}
	if len(l.unanswered) == 0 {
		n.choose(now, l, fx)
	}
}

// choose lets the policy decide with the answers received so far.
func (n *Node) choose(now grid.Time, l *liveTask, fx *grid.Effects) {
	n.leaveWindow(l)
	l.phase = idle
	n.updateColumns(now)
	n.dropBlacklisted(now, l)
	p := n.policyOf(l.job)
	if n.assignBatch(now, l, p, fx) {
		return
	}
	c := p.Choose(now, &l.request, l.answers)
	switch c.Act {
	case balance.Place:
		n.offer(now, l, c, fx)
	case balance.PollMore:
		if v := n.moreCandidates(now, l); len(v.Nodes) > 0 {
			n.poll(now, l, v, fx)
			return
		}
		fallthrough
	default:
		n.keptByPolicy(now, l, fx)
	}
}

// keptByPolicy handles a task that the policy does not place. The local policy never sends a task away, so a task that
// this node can never run ends.
func (n *Node) keptByPolicy(now grid.Time, l *liveTask, fx *grid.Effects) {
	if why := n.fitsSelf(l.job.spec); n.isLocal(l.job) && (why.Why.Never() || l.neverFits(n.cfg.Self)) {
		n.giveUp(now, l, fx)
		return
	}
	n.pauseTask(now, l, grid.Refusal{Why: grid.WhyPolicy}, fx)
}
