package node

import (
	"cmp"
	"slices"
	"time"

	"skep/balance"
	"skep/discovery"
	"skep/grid"
	"skep/node/reputation"
)

// candidates returns the nodes that the task may be offered to, as known without a poll, except those polled in this
// decision. It falls back in two steps when nobody else is left: first to nodes that it otherwise avoids for this task
// (an attempt failed, was lost or was demoted there, or they must deliver first after a reclaim), then to blacklisted
// nodes. onProbation counts the nodes that fit but were left out at the last step: on probation or backing off.
func (c *coordinator) candidates(now grid.Time, l *liveTask) (v balance.View, onProbation int) {
	l.excluded = slices.DeleteFunc(l.excluded, func(o exclusion) bool { return o.until <= now })
	l.tryBlacklisted = l.tryBlacklisted && len(l.polled) > 0
	if c.isLocal(l.job) {
		return c.eligibleNodes(now, l, nil, false)
	}
	x := c.failures.Blacklist(l.class())
	v, onProbation = c.eligibleNodes(now, l, x, true)
	preferred := func(o exclusion) bool { return o.preference }
	if len(v.Nodes) == 0 && (len(l.failedOn) > 0 || len(l.demotions) > 0 || l.reclaims > 0 || onProbation > 0 ||
		slices.ContainsFunc(l.excluded, preferred)) {
		v, onProbation = c.eligibleNodes(now, l, x, false)
	}
	if len(v.Nodes) == 0 && x != nil && onProbation == 0 && len(l.polled) == 0 &&
		!slices.ContainsFunc(l.excluded, func(o exclusion) bool { return !o.preference && !o.why.Why.Never() }) {
		l.tryBlacklisted = true
		v, onProbation = c.eligibleNodes(now, l, nil, false)
	}
	return v, onProbation
}

// hasCandidate reports whether there is a node that the task may be offered to.
func (c *coordinator) hasCandidate(now grid.Time, l *liveTask) bool {
	v, _ := c.candidates(now, l)
	return len(v.Nodes) > 0
}

// isLocal reports whether the job's tasks run only on this node (policy "local"). Such a task waits for this node
// even after it failed here.
func (c *coordinator) isLocal(j *job) bool { return cmp.Or(j.spec.Policy, c.cfg.Policy) == "local" }

// moreCandidates returns the candidates for another poll. It leaves out this node once it has answered: its answer
// would be the same, immediately, in an endless loop.
func (c *coordinator) moreCandidates(now grid.Time, l *liveTask) balance.View {
	v, _ := c.candidates(now, l)
	self := func(s balance.State) bool { return s.Node == c.cfg.Self }
	if slices.ContainsFunc(l.answers, self) {
		v.Nodes = slices.DeleteFunc(v.Nodes, self)
	}
	return v
}

// eligibleNodes returns the candidates outside the blacklist, which may be nil, and how many were left out because they
// are on probation or backing off; strict as in excludes.
func (c *coordinator) eligibleNodes(now grid.Time, l *liveTask, blacklist *reputation.Blacklist, strict bool) (
	v balance.View, onProbation int) {
	v = balance.View{Self: c.cfg.Self, Home: c.profile.Site(), Nodes: c.scratch.view[:0]}
	spec, expected, floor := l.job.spec, c.expected(l.class()), c.rates.MinRunTime(l.class(), c.claims)
	fetch, ownerOnly := c.fetchTime(spec), spec.Access() == grid.AccessOwner
	for _, m := range c.connected() {
		q, g := m.peer, m.view
		if g.Ad == nil || !q.takesWork || ownerOnly && !q.hidesJobs || l.excludes(q.id, strict) || g.Ad.Closed() ||
			discovery.Fit(&spec.Needs, spec.Engine, g.Ad) != grid.WhyNone {
			continue
		}
		if blacklist.Excludes(now, q.id) {
			continue
		}
		s := m.record
		if strict && l.reclaims > 0 && !s.Delivered() {
			continue
		}
		if s.OnProbation(now, grid.MilliCPU(q.cores)) || strict && s.BackingOff(now) {
			onProbation++
			continue
		}
		claimed := g.Ad.Backlog.Seconds() + 1/(c.rateOf(q, l.class())*c.speedOf(m, spec)) + c.rates.Overhead()
		v.Nodes = append(v.Nodes, balance.State{Node: q.id, Ready: g.Ad.Backlog.Seconds(), RTT: g.RTT, Site: q.site, Fetch: fetch,
			ECT: s.CompletionTime(now, claimed, expected, floor), Heard: g.Fresh()})
	}
	if !c.refusesForeign(l.job.id) && !l.excludes(c.cfg.Self, strict) && !blacklist.Excludes(now, c.cfg.Self) &&
		discovery.Fit(&spec.Needs, spec.Engine, c.gossip.Ad()) == grid.WhyNone &&
		c.worker.Exec().Refuses(spec.Needs.Resources) == grid.WhyNone {
		at, _ := slices.BinarySearchFunc(v.Nodes, c.cfg.Self, func(s balance.State, id grid.NodeID) int { return s.Node.Compare(id) })
		v.Nodes = slices.Insert(v.Nodes, at, c.selfState(now, spec.Needs.Resources, l.class()))
	}
	c.scratch.view = v.Nodes
	return v, onProbation
}

// excludes reports whether a task must not be offered to a node, or has polled it in this decision. If strict it also
// excludes nodes on which the task failed or which demoted it, and preferences.
func (l *liveTask) excludes(id grid.NodeID, strict bool) bool {
	return strict && (slices.ContainsFunc(l.failedOn, func(s failedOn) bool { return s.node == id }) || l.demotedBy(id)) ||
		slices.ContainsFunc(l.excluded, func(o exclusion) bool { return o.node == id && (strict || !o.preference) }) || slices.Contains(l.polled, id)
}

// rateOf returns the execution rate of one slot of a peer for a class, measured or estimated.
func (c *coordinator) rateOf(q *peer, class string) float64 {
	for i := range q.rates {
		if q.rates[i].Class == class && q.rates[i].Mu > 0 {
			return q.rates[i].Mu
		}
	}
	return c.rates.Rate(class, q.speed, c.claims)
}

// selfState returns this node's own answer to a poll.
func (c *coordinator) selfState(now grid.Time, need grid.Resources, class string) balance.State {
	here := c.worker.Exec()
	ready := here.Wait(now, need, c.runTime)
	ran, rest := here.Ahead(now, need, c.runTime)
	return balance.State{Node: c.cfg.Self, ECT: ready + here.Mean(now, class, c.runTime), Ready: ready, Heard: now, Site: c.profile.Site(),
		Waiting: int32(len(here.Queue())), Running: int32(len(here.Running())), Ran: ran, Rest: rest, Whole: !c.cfg.Balance.Rest}
}

// refusesForeign reports whether this node is private and the job was submitted elsewhere.
func (c *coordinator) refusesForeign(id grid.JobID) bool {
	return c.cfg.Private && id.Origin != c.cfg.Self
}

// fitsSelf returns why this node could never run the job's tasks; WhyNone if it could.
func (c *coordinator) fitsSelf(spec *grid.JobSpec) grid.Refusal {
	return discovery.Match(&spec.Needs, spec.Engine, c.gossip.Ad())
}

// exclude stops offers of a task to a node: for ever if the node can never run it, else for a time that doubles with
// the task's tries, from 1 s to 30 s.
func (c *coordinator) exclude(now grid.Time, l *liveTask, id grid.NodeID, why grid.Refusal) {
	until := grid.Never
	if !why.Why.Never() || why.Why == grid.WhyAccess { // the node may be upgraded
		until = now.Add(min(time.Second<<min(l.tries, 5), 30*time.Second))
	}
	c.trace(l.task(), grid.Trace{At: now, What: grid.TraceRefused, Node: id, Refusal: why, Asked: int32(len(l.polled))})
	for i := range l.excluded {
		if l.excluded[i].node == id {
			l.excluded[i].why, l.excluded[i].until = why, max(until, l.excluded[i].until)
			l.excluded[i].preference = l.excluded[i].preference && !why.Why.Never()
			return
		}
	}
	l.excluded = append(l.excluded, exclusion{node: id, why: why, until: until})
}
