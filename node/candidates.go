package node

import (
	"slices"
	"time"

	"skep/balance"
	"skep/discovery"
	"skep/grid"
)

// candidates lists the nodes that the task could go to now and that were not asked in this decision, as
// they are known without a message. Where an earlier attempt was lost is only gone back to when there is
// nowhere else.
func (n *Node) candidates(now grid.Time, l *live) balance.View {
	l.out = slices.DeleteFunc(l.out, func(o out) bool { return o.until <= now })
	v := n.reach(now, l, true)
	if len(v.Nodes) == 0 && slices.ContainsFunc(l.out, func(o out) bool { return o.soft }) {
		v = n.reach(now, l, false)
	}
	return v
}

func (n *Node) reach(now grid.Time, l *live, shy bool) balance.View {
	v := balance.View{Self: n.cfg.Self, Nodes: n.scratch.view[:0]}
	spec := l.job.spec
	for _, g := range n.gossip.Peers() {
		q := n.peers[g.Node]
		if q == nil || !q.up || g.Ad == nil || q.kinds&needed != needed || l.barred(g.Node, shy) || g.Ad.Draining ||
			g.Ad.Leaving || discovery.Fit(&spec.Needs, spec.Engine, g.Ad) != grid.WhyNone {
			continue
		}
		v.Nodes = append(v.Nodes, balance.State{Node: g.Node, Ready: g.Ad.Backlog.Seconds(), RTT: g.RTT,
			ECT: g.Ad.Backlog.Seconds() + 1/n.rateOf(q, l.job.class) + n.rates.overhead, Heard: max(g.Heard, g.Fresh)})
	}
	if !l.barred(n.cfg.Self, shy) && discovery.Fit(&spec.Needs, spec.Engine, n.gossip.Ad()) == grid.WhyNone &&
		n.exec.Refuses(spec.Needs.Resources) == grid.WhyNone {
		at, _ := slices.BinarySearchFunc(v.Nodes, n.cfg.Self, func(s balance.State, id grid.NodeID) int { return s.Node.Compare(id) })
		v.Nodes = slices.Insert(v.Nodes, at, n.state(now, spec.Needs.Resources, l.job.class))
	}
	n.scratch.view = v.Nodes
	return v
}

// barred reports whether the task is not to be offered to a node, or has asked it in this decision. A shy
// look also leaves out those that lost it.
func (l *live) barred(id grid.NodeID, shy bool) bool {
	return slices.ContainsFunc(l.out, func(o out) bool { return o.node == id && (shy || !o.soft) }) || slices.Contains(l.asked, id)
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
	ready := n.exec.Wait(now, need, n.rates.meanHere)
	return balance.State{Node: n.cfg.Self, ECT: ready + n.exec.Mean(now, class, n.rates.meanHere), Ready: ready, Heard: now}
}

// fits says whether this node itself could ever run the job's tasks.
func (n *Node) fits(spec *grid.JobSpec) grid.Refusal {
	return discovery.Match(&spec.Needs, spec.Engine, n.gossip.Ad())
}

// exclude keeps a task from being offered to a node: for good if it can never run it, else for a while
// that grows with the tries.
func (n *Node) exclude(now grid.Time, l *live, id grid.NodeID, why grid.Refusal) {
	until := grid.Never
	if !why.Why.Never() {
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
