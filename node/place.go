package node

import (
	"cmp"
	"container/heap"
	"slices"

	"skep/balance"
	"skep/grid"
)

// live is the part of a task that exists while it is looking for its place or has an attempt out.
type live struct {
	handle uint64
	job    *job
	index  uint32
	at     int // in the queue that it is in, by its phase; nowhere
	task   grid.Task
	phase  phase
	round  uint8 // of polling: answers to an older one are stale
	tries  int   // placements that came to nothing since the last one that did

	asked    []grid.NodeID   // in this decision
	answers  []balance.State // in this decision
	open     []grid.NodeID   // those whose answers are still to come
	sent     grid.Time       // when the poll or the offer was sent
	deadline grid.Time       // of the poll, the lease, or the wait
	alarm    grid.Time       // the lease's wake under way; 0 = none
	out      []out           // those that would refuse
	search   uint64          // the search that it waits for; 0 = none
	absent   bool            // it waits for a node that fits to come
	result   *grid.Result    // whose blobs are on their way here
	fetches  int             // tries to get them
	failed   int             // attempts that could not be prepared
	refusal  *grid.Result    // the last "cannot execute", in case nobody can
}

// out is a node that is not asked for a while.
type out struct {
	node  grid.NodeID
	why   grid.Refusal
	until grid.Time
	soft  bool // it lost the task: others are preferred
}

// phase is where a live task is.
type phase uint8

const (
	idle    phase = iota // in one of the node's queues
	polling              // waits for answers
	offered              // waits for an acceptance
	placed               // a node has it
	waits                // for a wake, or for news of a node that fits
)

// enliven gives a task its live part.
func (n *Node) enliven(j *job, i uint32) *live {
	n.handles++
	l := &live{handle: n.handles, job: j, index: i, at: nowhere}
	l.task = grid.Task{Spec: j.spec, Class: j.class, Arrived: j.arrived}
	n.lives[l.handle] = l
	j.tasks[i].live = l
	return l
}

// drop takes a task's live part away.
func (n *Node) drop(l *live) {
	n.decided(l)
	n.dequeue(l)
	delete(n.lives, l.handle)
	l.job.tasks[l.index].live = nil
}

func (l *live) t() *task           { return &l.job.tasks[l.index] }
func (l *live) id() grid.AttemptID { return l.job.attempt(l.index) }

// decided takes a task out of the window of decisions under way.
func (n *Node) decided(l *live) {
	if l.phase == polling || l.phase == offered {
		n.deciding--
	}
}

// pump begins decisions while the window has room: first what is placed again, with its old age, then what
// was submitted, in order.
func (n *Node) pump(now grid.Time, fx *grid.Effects) {
	for n.deciding < n.cfg.Window {
		if len(n.again) > 0 {
			n.place(now, heap.Pop(&n.again).(*live), fx)
			continue
		}
		if len(n.fresh) == 0 {
			return
		}
		j := n.fresh[0]
		for j.next < j.spec.Count && (j.tasks[j.next].state != grid.Pending || j.tasks[j.next].live != nil) {
			j.next++
		}
		if j.next == j.spec.Count {
			n.fresh = slices.Delete(n.fresh, 0, 1)
			continue
		}
		n.place(now, n.enliven(j, j.next), fx)
	}
}

// place begins a decision: who fits and can be reached, whom the policy wants asked.
func (n *Node) place(now grid.Time, l *live, fx *grid.Effects) {
	n.columns(now)
	l.task.ID = l.id()
	l.asked, l.answers = l.asked[:0], l.answers[:0]
	v := n.candidates(now, l)
	switch {
	case len(v.Nodes) == 0:
		n.nobody(now, l, fx)
	case len(v.Nodes) == 1 && v.Nodes[0].Node != n.cfg.Self: // its answer would cost a round trip and change nothing
		l.answers = append(l.answers, v.Nodes[0])
		n.choose(now, l, fx)
	default:
		n.poll(now, l, v, fx)
	}
}

// poll asks those that the policy names, and chooses at once if there is nobody to wait for.
func (n *Node) poll(now grid.Time, l *live, v balance.View, fx *grid.Effects) {
	p := n.policyOf(l.job)
	ids := p.Poll(now, &l.task, v, n.scratch.poll[:0])
	n.scratch.poll = ids
	if len(ids) == 0 && len(l.answers) == 0 {
		l.answers = append(l.answers, v.Nodes...)
	}
	l.open = l.open[:0]
	l.round++
	n.rates.publish(now)
	for _, id := range ids {
		if id == n.cfg.Self {
			l.answers = append(l.answers, n.state(now, l.job.spec.Needs.Resources, l.job.class))
			continue
		}
		q := n.peers.get(id)
		if q == nil || !q.up {
			continue
		}
		l.asked = append(l.asked, id)
		l.open = append(l.open, id)
		m := fx.Send(id, grid.KindPoll)
		m.Poll.ID, m.Poll.Class, m.Poll.Needs = l.handle<<8|uint64(l.round), l.job.class, l.job.spec.Needs.Resources
		m.Poll.Speed, m.Poll.Cores, m.Poll.Mine, m.Poll.Have = n.cfg.Speed, n.cfg.Capacity.CPU, n.rates.version, q.have
		if q.told != n.rates.version {
			m.Poll.Rates = append(m.Poll.Rates, n.rates.own...)
		}
	}
	l.sent = now
	if len(l.open) == 0 {
		n.choose(now, l, fx)
		return
	}
	l.phase = polling
	n.deciding++
	l.deadline = now.Add(min(max(2*n.roundTrip(l.asked), n.cfg.PollFloor), n.cfg.PollCap))
	fx.Wake(l.deadline, grid.TimerPoll, l.handle)
}

// answered takes an answer to a poll, and the rates that came with it.
func (n *Node) answered(now grid.Time, from grid.NodeID, s *grid.State, fx *grid.Effects) {
	q := n.peers.get(from)
	if q == nil {
		return
	}
	n.exchange(q, s.Rates, s.Speed, s.Cores, s.Mine, s.Have)
	l := n.lives[s.ID>>8]
	if l == nil || l.phase != polling || l.round != uint8(s.ID) || !l.hears(from) {
		n.stats.Stale++
		if l != nil && l.phase == waits && l.round == uint8(s.ID) && slices.Contains(l.asked, from) {
			n.gossip.Heard(now, from, now.Sub(l.sent)) // or the next poll would be as short
		}
		return
	}
	rtt := now.Sub(l.sent)
	n.gossip.Heard(now, from, rtt)
	if s.Why != grid.WhyNone {
		n.exclude(now, l, from, grid.Refusal{Why: s.Why})
	} else {
		l.answers = append(l.answers, balance.State{Node: from, ECT: max(s.ECT, 0).Seconds() + n.rates.overhead,
			Ready: max(s.Backlog, 0).Seconds(), RTT: rtt, Heard: now})
	}
	if len(l.open) == 0 {
		n.choose(now, l, fx)
	}
}

// choose lets the policy decide with what has come.
func (n *Node) choose(now grid.Time, l *live, fx *grid.Effects) {
	n.decided(l)
	l.phase = idle
	n.columns(now)
	p := n.policyOf(l.job)
	c := p.Choose(now, &l.task, l.answers)
	switch c.Act {
	case balance.Place:
		n.offer(now, l, c, fx)
	case balance.PollMore:
		if v := n.candidates(now, l); len(v.Nodes) > 0 {
			n.poll(now, l, v, fx)
			return
		}
		fallthrough
	default:
		n.held(now, l, fx)
	}
}

// held handles a task that the policy keeps. The local policy never gives one away, so what this node can
// never run itself is given up.
func (n *Node) held(now grid.Time, l *live, fx *grid.Effects) {
	name := cmp.Or(l.job.spec.Policy, n.cfg.Policy)
	if why := n.fits(l.job.spec); name == "local" && (why.Why.Never() || l.never(n.cfg.Self)) {
		n.giveUp(now, l, fx)
		return
	}
	n.pause(now, l, grid.Refusal{Why: grid.WhyPolicy}, fx)
}
