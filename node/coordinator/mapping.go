package coordinator

import (
	"cmp"
	"math"
	"slices"

	"skep/balance"
	"skep/grid"
	"skep/node/mapping"
)

// What awaits a mapping event (package mapping): all untried tasks of a job are represented by one that is live. It is
// parked, and holds the others back.

// mapperOf returns the job's policy if it maps the tasks of all jobs together, and its name.
func (c *Coordinator) mapperOf(j *job) (name string, p balance.Mapper) {
	p, _ = c.policyOf(j).(balance.Mapper)
	return cmp.Or(j.spec.Policy, c.cfg.Policy), p
}

// isMapped reports whether the job's tasks are placed at mapping events.
func (c *Coordinator) isMapped(j *job) bool {
	_, p := c.mapperOf(j)
	return p != nil
}

// parkForMapping has a task wait for the next mapping event of its policy. The representative of a job that was mapped
// before is no news.
func (c *Coordinator) parkForMapping(l *liveTask) {
	name, _ := c.mapperOf(l.job)
	e := c.mappings.Of(name)
	if e == nil {
		c.live.lastHandle++
		e = c.mappings.Add(name, c.live.lastHandle, c.cfg.Config, c.isAwaited)
	}
	c.parkTask(l, awaitMapping)
	switch {
	case l.isTried():
		e.Came(1)
	case l.job.expected.by == 0:
		e.Came(int(l.job.spec.Count-l.job.nextFresh) + 1)
	default:
		e.Back()
	}
}

// isAwaited reports whether a task awaits a mapping event of a policy.
func (c *Coordinator) isAwaited(policy string) bool {
	return slices.ContainsFunc(c.live.waiting.list, func(l *liveTask) bool {
		name, _ := c.mapperOf(l.job)
		return l.awaits == awaitMapping && name == policy
	})
}

// mapWaiting begins a mapping event that is due, and reports whether it did; or else sets the timers for the next ones.
func (c *Coordinator) mapWaiting(now grid.Time, fx *grid.Effects) bool {
	if c.live.waiting.unmapped == 0 {
		return false
	}
	for _, e := range c.mappings.All() {
		at := e.DueAt(now, 2*c.live.inFlight <= c.cfg.Window)
		if at <= now {
			c.beginMapping(now, e, fx)
			return true
		}
		e.Sleep(at, fx)
	}
	return false
}

// mappingTimer handles a timer of mapping events.
func (c *Coordinator) mappingTimer(now grid.Time, k grid.TimerKind, e *mapping.Events, fx *grid.Effects) {
	switch {
	case k == grid.TimerPoll && e.Polling && now >= e.Deadline:
		c.finishMapping(now, e, fx)
	case k == grid.TimerRetry:
		e.Woke(now)
	}
}

// mappedKind is the tasks behind a [mapping.Kind]: a parked one, and the untried ones of its job that it stands for.
type mappedKind struct {
	job    *job
	class  string
	parked *liveTask // nil = it was offered
	fresh  uint32    // next untried task; the number of tasks = there is none
	placed int
	end    float64 // when the last that has a place and is not offered would end, seconds from now on
}

// metaTask collects the tasks that await an event, those of the highest bid first, then the oldest. Those that nobody
// may take any more are placed anew, one by one.
func (c *Coordinator) metaTask(now grid.Time, e *mapping.Events) (t mapping.MetaTask, kinds []mappedKind) {
	var waiting []*liveTask
	for _, l := range c.live.waiting.list {
		if name, _ := c.mapperOf(l.job); l.awaits == awaitMapping && name == e.Policy {
			waiting = append(waiting, l)
		}
	}
	aged := c.sortByBid(now, waiting)
	for _, l := range waiting {
		if len(t) == mapping.MaxKinds {
			e.Again()
			break
		}
		v, _ := c.candidates(now, l)
		if len(v.Nodes) == 0 || !c.mayAct(now, l.job) {
			c.resumeTask(l)
			continue
		}
		k := mappedKind{job: l.job, class: l.class(), parked: l, fresh: l.job.spec.Count}
		tasks, same := 1, func(k mappedKind) bool { return k.job == l.job && k.fresh < l.job.spec.Count }
		if !l.isTried() && !l.tryBlacklisted && !slices.ContainsFunc(kinds, same) {
			k.fresh = l.job.nextFresh
			tasks += l.job.untried(mapping.MaxKindTasks)
		}
		kinds = append(kinds, k)
		t = append(t, mapping.Kind{Job: l.job.id, Arrived: l.job.arrived, Spec: l.job.spec, Level: l.level(), Tasks: tasks,
			Bid: c.cfg.Order.Counts(l.job.spec.Bid(), 0), Aged: aged[l.job], View: slices.Clone(v.Nodes)})
	}
	return t, kinds
}

// beginMapping begins an event: it asks the nodes that the policy names, each about the first kind that it fits.
func (c *Coordinator) beginMapping(now grid.Time, e *mapping.Events, fx *grid.Effects) {
	e.Begin(now)
	c.peers.Inform(now)
	c.peers.UpdateColumns(now)
	t, kinds := c.metaTask(now, e)
	if len(t) == 0 {
		e.Polling = false
		return
	}
	_, p := c.mapperOf(kinds[0].job)
	v := balance.View{Self: c.cfg.Self, Home: c.peers.Home(), Nodes: t.Nodes()}
	ids := p.Ask(now, t.Size(), t.HighestBid(), v, c.scratch.poll[:0])
	c.scratch.poll = ids
	c.peers.PublishRates(now)
	for _, id := range ids {
		k := t.About(id)
		if s := k.State(id); s.Answer {
			e.Answers = append(e.Answers, *s)
		} else if q := c.peers.Ask(id, k.Level, fx); q != nil {
			e.Ask(id, e.Handle, k, &q.Poll)
		}
	}
	if e.Complete() {
		c.finishMapping(now, e, fx)
		return
	}
	e.Deadline = now.Add(min(max(2*c.peers.RoundTrip(e.Asked), c.cfg.PollFloor), c.cfg.PollCap))
	fx.Wake(e.Deadline, grid.TimerPoll, e.Handle)
}

// mappingAnswered handles an answer to the poll of an event and the rates that came with it.
func (c *Coordinator) mappingAnswered(now grid.Time, from grid.NodeID, e *mapping.Events, s *grid.State,
	fx *grid.Effects) {
	if e.Unasked(from, s.ID) {
		c.countOffence(from, fx)
		return
	}
	c.peers.Answered(from, s)
	spec, level, awaited := e.Answered(from, s.ID)
	if !awaited {
		if c.stats.Stale++; e.Late(from, s.ID) {
			c.gossip.Heard(now, from, now.Sub(e.Sent)) // else the next event would time out as early
		}
		return
	}
	rtt := now.Sub(e.Sent)
	c.gossip.Heard(now, from, rtt)
	if s.Why == grid.WhyNone {
		e.Answers = append(e.Answers, c.peers.Answer(now, from, level, spec, s, rtt))
	}
	if e.Complete() {
		c.finishMapping(now, e, fx)
	}
}

// mappedWindows is how many decision windows of tasks get a place by the next mapping event, and later, at most.
const mappedWindows = 4

// finishMapping maps all tasks that wait now, and offers those that begin before the next event.
func (c *Coordinator) finishMapping(now grid.Time, e *mapping.Events, fx *grid.Effects) {
	e.Polling = false
	c.peers.UpdateColumns(now)
	t, kinds := c.metaTask(now, e)
	if len(e.Answers) == 0 || len(t) == 0 {
		e.Missed(now)
		return
	}
	_, p := c.mapperOf(kinds[0].job)
	most := mappedWindows * c.cfg.Window // more have no chance to be offered now
	plan := p.Map(now, t.Rows(&e.Poll, e.Interval(), most))
	next, later, offered := math.Inf(1), 0, false
	for _, x := range plan.Placed {
		k := &kinds[x.Kind]
		switch to := e.Answers[x.Node].Node; {
		case x.Free > e.Interval():
			next, later = min(next, x.Free), later+1
		case c.live.inFlight >= c.cfg.Window:
			e.Full()
		case c.offerMapped(now, &e.Poll, k, balance.Choice{Act: balance.Place, Node: to, ECT: x.End}, fx):
			offered = true
			continue
		}
		k.end = max(k.end, x.End)
	}
	if offered && len(plan.Placed)-later == most {
		e.Full()
	}
	for i := range kinds {
		if k := &kinds[i]; k.placed < t[i].Tasks {
			next = min(next, plan.Next)
			c.keepMapped(now, k, max(k.end, plan.End(i)))
		}
	}
	e.End(now, next)
}

// offerMapped offers the next task of a kind, and reports whether it did: a node on probation gets no further one.
func (c *Coordinator) offerMapped(now grid.Time, p *mapping.Poll, k *mappedKind, x balance.Choice,
	fx *grid.Effects) bool {
	avoided := c.peers.HasBlacklist(k.class) && c.peers.Excludes(now, k.class, x.Node)
	if c.peers.OnProbation(now, x.Node) || k.job.isFull(0) || !k.job.leads() || !c.mayAct(now, k.job) ||
		avoided && (k.parked == nil || !k.parked.tryBlacklisted) {
		return false
	}
	l := k.parked
	if k.parked = nil; l != nil {
		c.dequeue(l)
	} else {
		for k.fresh < k.job.spec.Count && !k.job.isUntried(k.fresh) {
			k.fresh++
		}
		if k.fresh == k.job.spec.Count {
			return false
		}
		c.countTurns(now, k.job, 1)
		l = c.newLiveTask(k.job, k.fresh)
	}
	l.request.ID, l.request.Class = l.id(), c.peers.Told(l.level())
	k.placed++
	c.offerUsing(now, l, &decision{polled: p.Asked, answers: p.Answers}, x, fx)
	if l.task().state == grid.Offered {
		k.job.urgency.Offered(now)
	}
	return true
}
