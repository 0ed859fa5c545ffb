package coordinator

import (
	"cmp"

	"skep/balance"
	"skep/grid"
	"skep/node/coordinator/candidates"
	"skep/node/coordinator/live"
	"skep/node/peers"
)

// place begins a placement decision: it collects the eligible nodes and polls those that the policy names.
func (c *Coordinator) place(now grid.Time, l *liveTask, fx *grid.Effects) {
	l.Ignore() // the task may have to wait now, and no answer is to end that
	if c.awaitsBackoff(now, l, fx) || c.awaitsSecret(now, l, fx) || c.awaitsBudget(now, l, int(l.job.live.Polling()), fx) {
		return
	}
	switch may := c.mayAct(now, l.job); {
	case l.planned && may:
		c.sendPlanned(now, l, fx)
		return
	case l.planned:
		c.keepPlanned(now, l, fx)
		return
	case !may && !c.isProvisional(l.job), may && !c.mayOffer(now, l.job, l.index, fx):
		c.waitForMajority(now, l, fx)
		return
	}
	c.peers.Inform(now)
	c.policyOf(l.job) // one that is made now is told the columns
	c.peers.UpdateColumns(now)
	l.request.ID, l.request.Class = l.id(), c.peers.Told(l.level())
	if k := len(c.scratch.answers); l.Answers == nil && k > 0 {
		l.Answers, c.scratch.answers = c.scratch.answers[k-1], c.scratch.answers[:k-1]
	}
	l.Begin()
	v, onProbation := c.candidates(now, l)
	for id, why := range l.NewBlacklisted(l.class(), c.peers) {
		c.trace(l.task(), grid.Trace{At: now, What: grid.TraceRefused, Node: id, Refusal: why})
	}
	switch {
	// this node alone is left, and busy
	case onProbation > 0 && (len(v.Nodes) == 0 || len(v.Nodes) == 1 && v.Nodes[0].Answer && v.Nodes[0].Ready > 0):
		c.pauseTask(now, l, grid.Refusal{Why: grid.WhyUnproven}, fx)
	case len(v.Nodes) == 0:
		c.noCandidate(now, l, fx)
	case c.isMapped(l.job):
		c.parkForMapping(l)
	// polling the only candidate would cost a round trip and decide nothing
	case len(v.Nodes) == 1 && !v.Nodes[0].Answer && !c.awaitsIdleNode(l.job):
		l.Answers = append(l.Answers, v.Nodes[0])
		c.choose(now, l, fx)
	default:
		c.poll(now, l, v, fx)
	}
}

// poll asks the nodes that the policy names, and chooses at once if no answer is awaited.
func (c *Coordinator) poll(now grid.Time, l *liveTask, v balance.View, fx *grid.Effects) {
	p := c.policyOf(l.job)
	c.weighed.Note(&l.Weighed, v.Nodes)
	ids := c.peers.AddPreferred(l.job.spec, v.Nodes, p.Poll(now, &l.request, v, c.scratch.poll[:0]))
	c.scratch.poll = ids
	if len(ids) == 0 && len(l.Answers) == 0 {
		l.Answers = append(l.Answers, v.Nodes...)
	}
	l.NextRound()
	c.peers.PublishRates(now)
	for _, id := range ids {
		if s := v.Find(id); s != nil && s.Answer {
			l.Answers = append(l.Answers, *s)
			continue
		}
		m := c.peers.Ask(id, l.level(), fx)
		if m == nil {
			continue
		}
		l.Ask(id)
		m.Poll.ID, m.Poll.Needs = l.Poll.ID(l.Key()), l.job.spec.Needs.Resources
		m.Poll.Bid, m.Poll.Options = l.job.spec.Bid(), candidates.AskOptions(l.job.spec, m.Poll.Options[:0])
	}
	l.Sent = now
	if !c.awaitsAnswers(now, l) {
		c.choose(now, l, fx)
		return
	}
	c.live.Poll(l, c.awaitsIdleNode(l.job))
	l.deadline = now.Add(min(max(2*c.peers.RoundTrip(l.Polled), c.cfg.PollFloor), c.cfg.PollCap))
	fx.Wake(l.deadline, grid.TimerPoll, l.Key())
}

// pollAnswered handles an answer to a poll and the rates that came with it.
func (c *Coordinator) pollAnswered(now grid.Time, from grid.NodeID, s *grid.State, fx *grid.Effects) {
	if !c.peers.Knows(from) {
		return
	}
	if e := c.mappings.Get(candidates.Handle(s.ID)); e != nil {
		c.mappingAnswered(now, from, e, s, fx)
		return
	}
	l := c.live.Get(candidates.Handle(s.ID))
	if l != nil && l.Phase() == live.Polling && l.IsRound(s.ID) && !l.Asked(from) {
		c.countOffence(from, fx)
		return
	}
	c.peers.Answered(from, s)
	if l == nil || l.Phase() != live.Polling || !l.IsRound(s.ID) || !l.Answered(from) {
		c.stats.Stale++
		// a repeated one is no news
		if l != nil && l.Phase() == live.Waiting && l.IsRound(s.ID) && l.Answered(from) {
			c.gossip.Heard(now, from, now.Sub(l.Sent)) // else the next poll would time out as early
			// of a node that can take the task, which waits since no answer came in time
			if s.Why == grid.WhyNone && len(l.Answers) == 0 && (l.Awaits() == live.ForTimer || l.Awaits() == live.ForProof) {
				c.resumeTask(l)
			}
		}
		return
	}
	rtt := now.Sub(l.Sent)
	c.gossip.Heard(now, from, rtt)
	if s.Why != grid.WhyNone {
		c.exclude(now, l, from, grid.Refusal{Why: s.Why})
	} else {
		l.Answers = append(l.Answers, c.peers.Answer(now, from, l.level(), l.job.spec, l.job.worthFor(now), s, rtt))
	}
	if !c.awaitsAnswers(now, l) {
		c.choose(now, l, fx)
	}
}

// isTried reports whether the task had an attempt.
func (l *liveTask) isTried() bool { return l.task().Attempt != (grid.Attempt{}) }

// awaitsAnswers reports whether the answer of a node that was polled could still be the best.
func (c *Coordinator) awaitsAnswers(now grid.Time, l *liveTask) bool {
	if len(l.Answers) == 0 || l.job.spec.Rules.Rank != nil || l.job.spec.Needs.Values() {
		return !l.Complete()
	}
	return l.AwaitsBetter(func(id grid.NodeID, best float64) bool {
		return c.peers.CouldWin(now, id, l.job.spec, l.level(), l.Sent, best)
	})
}

// choose lets the policy decide with the answers received so far.
func (c *Coordinator) choose(now grid.Time, l *liveTask, fx *grid.Effects) {
	c.live.Release(l)
	c.peers.UpdateColumns(now)
	l.DropBlacklisted(now, l.class(), c.policyName(l.job.spec), c.peers)
	if c.dropLate(now, l, fx) {
		return
	}
	p := c.policyOf(l.job)
	if c.assignBatch(now, l, p, fx) {
		return
	}
	x := p.Choose(now, &l.request, peers.Worth(l.job.spec, c.peers.Prefer(l.job.spec, l.Answers)))
	switch x.Act {
	case balance.Place:
		c.offer(now, l, x, fx)
	case balance.PollMore:
		if v := l.More(now, c.need(now, l)); len(v.Nodes) > 0 {
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
	if why := c.FitsSelf(l.job.spec); c.isLocal(l.job.spec) && (why.Why.Never() || l.NeverFits(c.cfg.Self)) {
		c.giveUp(now, l, fx)
		return
	}
	c.pauseTask(now, l, grid.Refusal{Why: grid.WhyPolicy}, fx)
	c.logDecision(now, l, &l.Poll, balance.Choice{}, grid.VerdictKept)
	c.weighed.Release(&l.Weighed)
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
		if j.tasks.In(grid.Ended) < j.count() {
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

// countOffence counts an answer that this node did not ask for, and reports the sender to the driver. An answer is
// accepted only from the node that was asked, and only for that question; a late or repeated answer of an honest node
// is ignored.
func (c *Coordinator) countOffence(from grid.NodeID, fx *grid.Effects) {
	c.stats.Stale++
	fx.Offences = append(fx.Offences, from)
}

// isOutsider reports whether a node answers for a register of which it never was a member.
func (c *Coordinator) isOutsider(j *job, from grid.NodeID) bool {
	return j != nil && j.replica.Place(from) < 0 && j.replica.State().Set == nil
}

// logDecision records what a decision weighed, for explanations; polled is the decision that was polled for.
func (c *Coordinator) logDecision(now grid.Time, l *liveTask, polled *candidates.Poll, x balance.Choice,
	why grid.Verdict) {
	if !c.weighed.Keeps() {
		return
	}
	charger, charges := c.policyOf(l.job).(balance.Charger)
	c.weighed.Record(grid.Decision{Task: l.id().Task, At: now, Why: why, Tied: x.Tied}, &polled.Weighed, polled.Answers,
		x.Node, func(s *balance.State) grid.Considered {
			asked, as := s.Answer || polled.Asked(s.Node), s.As(x.Node, l.task().Option)
			n := c.peers.Weigh(now, &as, l.level(), l.job.spec, asked)
			if charges {
				n.Charged = grid.Seconds(charger.Charge(now, s))
			}
			return n
		})
}

// pushJob puts a job into the queue, with its number.
func (c *Coordinator) pushJob(j *job) {
	j.line = c.queue.turns.Push(c.payer(j).Key(j.id, j.spec, j.level), j.turn, j.arrived, j)
}
