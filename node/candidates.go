package node

import (
	"cmp"
	"slices"
	"time"

	"skep/balance"
	"skep/discovery"
	"skep/grid"
)

// candidates lists the nodes that the task could go to now and that were not asked in this decision, as
// they are known without a message. Where an earlier attempt failed, and then to who is avoided, is only gone back to when there is
// nowhere else.
func (n *Node) candidates(now grid.Time, l *live) balance.View {
	l.out = slices.DeleteFunc(l.out, func(o out) bool { return o.until <= now })
	l.dares = l.dares && len(l.asked) > 0
	if n.stays(l.job) {
		return n.reach(now, l, nil, false)
	}
	c := n.shuns(l.class())
	v := n.reach(now, l, c, true)
	if len(v.Nodes) == 0 && (len(l.struck) > 0 || len(l.demotions) > 0 || l.rescued > 0 || n.withheld > 0 || slices.ContainsFunc(l.out, func(o out) bool { return o.soft })) {
		v = n.reach(now, l, c, false)
	}
	if len(v.Nodes) == 0 && c != nil && n.withheld == 0 && len(l.asked) == 0 &&
		!slices.ContainsFunc(l.out, func(o out) bool { return !o.soft && !o.why.Why.Never() }) {
		l.dares = true
		v = n.reach(now, l, nil, false)
	}
	return v
}

// stays reports whether a job's tasks run here or nowhere. Its policy waits for this node even where others would be
// asked first, because a task failed here.
func (n *Node) stays(j *job) bool { return cmp.Or(j.spec.Policy, n.cfg.Policy) == "local" }

// further lists the candidates for another round of questions. This node is no more among them when it has answered:
// its answer would be the same, and come at once, without end.
func (n *Node) further(now grid.Time, l *live) balance.View {
	v := n.candidates(now, l)
	self := func(s balance.State) bool { return s.Node == n.cfg.Self }
	if slices.ContainsFunc(l.answers, self) {
		v.Nodes = slices.DeleteFunc(v.Nodes, self)
	}
	return v
}

func (n *Node) reach(now grid.Time, l *live, shuns *blamed, shy bool) balance.View {
	v := balance.View{Self: n.cfg.Self, Home: n.site, Nodes: n.scratch.view[:0]}
	n.withheld = 0
	spec, usual, floor := l.job.spec, n.expected(l.class()), n.floor(l.class())
	fetch, owner := n.fetchTime(spec), spec.Access() == grid.AccessOwner
	for _, m := range n.connected() {
		q, g := m.peer, m.known
		if g.Ad == nil || !q.works || owner && !q.discreet || l.barred(q.id, shy) || g.Ad.Closed() ||
			discovery.Fit(&spec.Needs, spec.Engine, g.Ad) != grid.WhyNone {
			continue
		}
		if n.avoids(now, shuns, q.id) {
			continue
		}
		s := m.seen
		if shy && l.rescued > 0 && (s == nil || s.seen == 0) {
			continue
		}
		if s.withheld(now, grid.MilliCPU(q.cores)) || shy && s.wary(now) {
			n.withheld++
			continue
		}
		said := g.Ad.Backlog.Seconds() + 1/(n.rateOf(q, l.class())*n.speedOf(m, spec)) + n.rates.overhead
		v.Nodes = append(v.Nodes, balance.State{Node: q.id, Ready: g.Ad.Backlog.Seconds(), RTT: g.RTT, Site: q.site, Fetch: fetch,
			ECT: s.believe(now, said, usual, floor), Heard: g.Fresh()})
	}
	if !n.declines(l.job.id) && !l.barred(n.cfg.Self, shy) && !n.avoids(now, shuns, n.cfg.Self) && discovery.Fit(&spec.Needs, spec.Engine, n.gossip.Ad()) == grid.WhyNone &&
		n.exec.Refuses(spec.Needs.Resources) == grid.WhyNone {
		at, _ := slices.BinarySearchFunc(v.Nodes, n.cfg.Self, func(s balance.State, id grid.NodeID) int { return s.Node.Compare(id) })
		v.Nodes = slices.Insert(v.Nodes, at, n.state(now, spec.Needs.Resources, l.class()))
	}
	n.scratch.view = v.Nodes
	return v
}

// barred reports whether the task is not to be offered to a node, or has asked it in this decision. A shy
// look also leaves out those that it failed on, and that stopped it.
func (l *live) barred(id grid.NodeID, shy bool) bool {
	return shy && (slices.ContainsFunc(l.struck, func(s struck) bool { return s.node == id }) || l.outgrew(id)) ||
		slices.ContainsFunc(l.out, func(o out) bool { return o.node == id && (shy || !o.soft) }) || slices.Contains(l.asked, id)
}

// rateOf is the execution rate of one slot of a peer for a class, measured or guessed.
func (n *Node) rateOf(q *peer, class string) float64 {
	for i := range q.rates {
		if q.rates[i].Class == class && q.rates[i].Mu > 0 {
			return q.rates[i].Mu
		}
	}
	return n.rates.guess(class, q.speed)
}

// state is this node's own answer.
func (n *Node) state(now grid.Time, need grid.Resources, class string) balance.State {
	ready := n.exec.Wait(now, need, n.rates.here)
	ran, rest := n.exec.Ahead(now, need, n.rates.here)
	return balance.State{Node: n.cfg.Self, ECT: ready + n.exec.Mean(now, class, n.rates.here), Ready: ready, Heard: now, Site: n.site,
		Waiting: int32(len(n.exec.Queue())), Running: int32(len(n.exec.Running())), Ran: ran, Rest: rest, Whole: !n.cfg.Balance.Rest}
}

// declines reports whether this node does not run the tasks of a job because it was submitted elsewhere.
func (n *Node) declines(id grid.JobID) bool { return n.cfg.Private && id.Origin != n.cfg.Self }

// fits says whether this node itself could ever run the job's tasks.
func (n *Node) fits(spec *grid.JobSpec) grid.Refusal {
	return discovery.Match(&spec.Needs, spec.Engine, n.gossip.Ad())
}

// exclude keeps a task from being offered to a node: for good if it can never run it, else for a while
// that grows with the tries.
func (n *Node) exclude(now grid.Time, l *live, id grid.NodeID, why grid.Refusal) {
	until := grid.Never
	if !why.Why.Never() || why.Why == grid.WhyAccess { // a node may become a newer one
		until = now.Add(min(time.Second<<min(l.tries, 5), 30*time.Second))
	}
	n.trace(l.t(), grid.Trace{At: now, What: grid.TraceRefused, Node: id, Refusal: why, Asked: int32(len(l.asked))})
	for i := range l.out {
		if l.out[i].node == id {
			l.out[i].why, l.out[i].until = why, max(until, l.out[i].until)
			l.out[i].soft = l.out[i].soft && !why.Why.Never()
			return
		}
	}
	l.out = append(l.out, out{node: id, why: why, until: until})
}
