package coordinator

import (
	"cmp"
	"slices"
	"time"

	"skep/balance"
	"skep/grid"
	"skep/node/coordinator/candidates"
	"skep/node/coordinator/live"
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
		e = c.mappings.Add(name, c.live.Handle(), c.cfg.Config, c.isAwaited)
	}
	c.parkTask(l, live.ForMapping)
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
	return slices.ContainsFunc(c.live.Waiting(), func(l *liveTask) bool {
		name, _ := c.mapperOf(l.job)
		return l.Awaits() == live.ForMapping && name == policy
	})
}

// mapWaiting begins a mapping event that is due, and reports whether it did; or else sets the timers for the next ones.
func (c *Coordinator) mapWaiting(now grid.Time, fx *grid.Effects) bool {
	if c.live.Unmapped() == 0 {
		return false
	}
	for _, e := range c.mappings.All() {
		at := e.DueAt(now, 2*c.live.InFlight() <= c.cfg.Window)
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
}

// metaTask collects the tasks that await an event, those of the highest bid first, then the oldest. Those that nobody
// may take any more are placed anew, one by one.
func (c *Coordinator) metaTask(now grid.Time, e *mapping.Events) (t mapping.MetaTask, kinds []mappedKind) {
	var waiting []mapping.Bidder[*liveTask]
	for _, l := range c.live.Waiting() {
		if name, _ := c.mapperOf(l.job); l.Awaits() == live.ForMapping && name == e.Policy {
			bid := c.cfg.Order.Counts(l.job.spec.Bid(), now.Sub(l.job.urgency.Since(l.job.arrived)))
			waiting = append(waiting, mapping.Bidder[*liveTask]{Task: l, Bid: bid, Arrived: l.job.arrived, Turn: l.job.turn,
				Index: l.index})
		}
	}
	mapping.SortByBid(waiting)
	for _, w := range waiting {
		l := w.Task
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
		if !l.isTried() && !l.TriesBlacklisted() && !slices.ContainsFunc(kinds, same) {
			k.fresh = l.job.nextFresh
			tasks += l.job.untried(mapping.MaxKindTasks)
		}
		kinds = append(kinds, k)
		t = append(t, mapping.Kind{Job: l.job.id, Arrived: l.job.arrived, Spec: l.job.spec, Level: l.level(), Tasks: tasks,
			Bid: c.cfg.Order.Counts(l.job.spec.Bid(), 0), Aged: w.Bid, View: slices.Clone(v.Nodes)})
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
	e.AskAll(ids, t, c.peers, fx)
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
		e.Answers = append(e.Answers, c.peers.Answer(now, from, level, spec, 0, s, rtt))
	}
	if e.Complete() {
		c.finishMapping(now, e, fx)
	}
}

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
	e.Finish(now, t, p, c.cfg.Window, &mappedTasks{c, now, fx, &e.Poll, kinds})
}

// mappedTasks are the tasks of a mapping event.
type mappedTasks struct {
	c     *Coordinator
	now   grid.Time
	fx    *grid.Effects
	poll  *mapping.Poll
	kinds []mappedKind
}

// HasRoom implements [mapping.Tasks].
func (m *mappedTasks) HasRoom() bool { return m.c.live.InFlight() < m.c.cfg.Window }

// Offer implements [mapping.Tasks]. A node on probation gets no further task.
func (m *mappedTasks) Offer(kind int, x balance.Choice, of []balance.State) bool {
	c, k := m.c, &m.kinds[kind]
	avoided := c.peers.HasBlacklist(k.class) && c.peers.Excludes(m.now, k.class, x.Node)
	if c.peers.OnProbation(m.now, x.Node) || k.job.isFull(0) || !k.job.leads() || !c.mayAct(m.now, k.job) ||
		avoided && (k.parked == nil || !k.parked.TriesBlacklisted()) {
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
		c.countTurns(m.now, k.job, 1)
		l = c.newLiveTask(k.job, k.fresh)
	}
	l.request.ID, l.request.Class = l.id(), c.peers.Told(l.level())
	if x.Option == 0 {
		x.Option = c.peers.OptionAt(m.now, x.Node, l.job.spec, l.level(), l.job.worthFor(m.now))
	}
	c.offerUsing(m.now, l, &candidates.Poll{Polled: m.poll.Asked, Answers: of}, x, m.fx)
	if l.task().State() == grid.Offered {
		k.job.urgency.Offered(m.now)
	}
	return true
}

// Keep implements [mapping.Tasks].
func (m *mappedTasks) Keep(kind int, end float64) {
	k, d := &m.kinds[kind], grid.Seconds(min(end, time.Hour.Seconds()))
	k.job.expected = expectation{by: m.now.Add(d), overdue: m.now.Add(d + d/2)}
	if k.parked == nil {
		return
	}
	m.c.traceWait(m.now, k.parked.task(), grid.Refusal{Why: grid.WhyPolicy, Detail: "others are mapped first"})
}

// expectation is when the tasks of a job that were mapped and have not begun are expected to end.
type expectation struct {
	by, overdue grid.Time // overdue is half as long again
}
