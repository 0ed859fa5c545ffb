package node

import (
	"skep/balance"
	"skep/grid"
)

// offer begins a new attempt on the chosen node. That it was made is on disk before anybody hears of it, so
// that a restarted origin knows whom to ask.
func (n *Node) offer(now grid.Time, l *live, c balance.Choice, fx *grid.Effects) {
	t := l.t()
	t.attempt = grid.Attempt{Epoch: max(t.attempt.Epoch, 1), N: t.attempt.N + 1}
	t.worker, t.placed, t.result = c.Node, n.wall.At(now).UnixNano(), nil
	l.refusal = nil
	tr := grid.Trace{At: now, What: grid.TraceChosen, Node: c.Node, ECT: grid.Seconds(c.ECT), Asked: int32(len(l.asked))}
	for i := range l.answers {
		if l.answers[i].Node == c.Node {
			tr.News = now.Sub(l.answers[i].Heard)
		}
	}
	n.trace(t, tr)
	n.note(balance.Outcome{Kind: balance.Placed, At: now, Node: c.Node, Class: l.job.class})
	if c.Node == n.cfg.Self {
		l.phase = placed
		n.stats.Local++
		n.setState(l.job, l.index, grid.Placed, fx)
		n.saveTask(l.job, l.index, fx)
		n.take(now, &grid.Offer{ID: l.id(), Spec: l.job.spec, Class: l.job.class, Lease: n.cfg.Lease}, fx)
		return
	}
	n.stats.Moved++
	n.setState(l.job, l.index, grid.Offered, fx)
	n.saveTask(l.job, l.index, fx)
	l.phase = offered
	n.deciding++
	n.lease(now, l, fx)
	n.sendOffer(now, l, fx)
}

// sendOffer says it, again if there was no answer: the worker knows an offer that it has had.
func (n *Node) sendOffer(now grid.Time, l *live, fx *grid.Effects) {
	m := fx.Send(l.t().worker, grid.KindOffer)
	m.Offer = grid.Offer{ID: l.id(), Spec: l.job.spec, Class: l.job.class, Lease: n.cfg.Lease, Age: max(now.Sub(l.job.arrived), 0)}
	l.sent = now
	fx.Wake(now.Add(n.cfg.Lease/4), grid.TimerOffer, l.handle)
}

// owned returns the live part of the task that the attempt is the last one of, if from was given it.
func (n *Node) owned(from grid.NodeID, id grid.AttemptID) *live {
	j := n.jobs[id.Task.Job]
	if j == nil || id.Task.Index >= j.spec.Count {
		return nil
	}
	t := &j.tasks[id.Task.Index]
	if t.attempt != id.Attempt || t.worker != from || t.live == nil {
		return nil
	}
	return t.live
}

func (n *Node) accepted(now grid.Time, from grid.NodeID, id grid.AttemptID, fx *grid.Effects) {
	l := n.owned(from, id)
	if l == nil || l.phase != offered && l.phase != placed {
		n.fence(from, id, fx)
		return
	}
	if l.phase == offered {
		n.settle(now, l, fx)
	}
	l.deadline = max(l.deadline, now.Add(n.cfg.Lease))
}

// settle notes that the worker has the attempt.
func (n *Node) settle(now grid.Time, l *live, fx *grid.Effects) {
	n.decided(l)
	l.phase, l.tries = placed, 0
	n.setState(l.job, l.index, grid.Placed, fx)
	n.trace(l.t(), grid.Trace{At: now, What: grid.TraceAccepted, Node: l.t().worker})
}

// refused takes a task back that a node would not take or does not have.
func (n *Node) refused(now grid.Time, from grid.NodeID, id grid.AttemptID, why grid.Refusal, fx *grid.Effects) {
	l := n.owned(from, id)
	if l == nil || l.phase != offered && l.phase != placed {
		n.stats.Stale++
		return
	}
	if l.phase == placed && why.Why != grid.WhyDrain && why.Why != grid.WhyOverdue {
		n.lose(now, l, why, fx)
		return
	}
	n.takeBack(now, l, why, fx)
}

// takeBack makes a task look for another node after a refusal: the attempt never ran.
func (n *Node) takeBack(now grid.Time, l *live, why grid.Refusal, fx *grid.Effects) {
	n.decided(l)
	l.tries++
	n.note(balance.Outcome{Kind: balance.Refused, At: now, Node: l.t().worker, Class: l.job.class})
	n.exclude(now, l, l.t().worker, why)
	n.setState(l.job, l.index, grid.Pending, fx)
	n.saveTask(l.job, l.index, fx) // or a restart would ask for the attempt, and count it as lost
	n.retry(l)
}

// beat renews the leases of what a worker still has, and tells it what of that is no longer live.
func (n *Node) beat(now grid.Time, from grid.NodeID, ids []grid.AttemptID, fx *grid.Effects) {
	var drop *grid.Message
	for _, id := range ids {
		if id.Task.Job.Origin != n.cfg.Self {
			continue
		}
		if l := n.owned(from, id); l != nil && (l.phase == offered || l.phase == placed) {
			n.accepted(now, from, id, fx)
			continue
		}
		n.stats.Stale++
		if drop == nil {
			drop = fx.Send(from, grid.KindDrop)
		}
		drop.Attempts = append(drop.Attempts, id)
	}
}

// fence tells a worker that an attempt is not the live one.
func (n *Node) fence(to grid.NodeID, id grid.AttemptID, fx *grid.Effects) {
	n.stats.Stale++
	if id.Task.Job.Origin != n.cfg.Self {
		return
	}
	m := fx.Send(to, grid.KindDrop)
	m.Attempts = append(m.Attempts, id)
}
