package node

import (
	"slices"

	"skep/balance"
	"skep/grid"
)

// twin is the second copy of a task of a job that is idempotent: an attempt of its own, with its own worker and lease,
// beside the one that the task stands at. Its number is above that one's, so that to workers it is any other attempt.
// The first result that is a success is the task's, and the other copy is dropped then. A copy that fails
// or is lost leaves the task to the other one: it counts against its node, not against the task. After one has failed there is
// no further copy, or a task that must fail would go on failing for ever.
type twin struct {
	attempt  grid.Attempt
	worker   grid.NodeID
	accepted bool
	sent     grid.Time // when the offer was
	deadline grid.Time // of its lease
	placed   int64
	word
}

// next is the number of the next attempt: above all that were ever made, live or not.
func (t *task) next(epoch uint32) grid.Attempt {
	last := t.attempt
	if last.Less(t.made) {
		last = t.made
	}
	if epoch > last.Epoch {
		last = grid.Attempt{Epoch: epoch}
	}
	last.N++
	return last
}

// copied is what is to be kept on disk of a task's second copy.
func (t *task) copied() *grid.CopyRecord {
	if t.made == (grid.Attempt{}) || t.state == grid.Ended {
		return nil
	}
	c := &grid.CopyRecord{Attempt: t.made}
	if t.live != nil && t.live.twin != nil {
		c.Worker = t.live.twin.worker
	}
	return c
}

// twinned returns the live part of the task whose second copy the attempt is, if that node was given it.
func (n *Node) twinned(from grid.NodeID, id grid.AttemptID) *live {
	j := n.job(id.Task.Job)
	if j == nil || id.Task.Index >= j.spec.Count {
		return nil
	}
	l := j.at(id.Task.Index).live
	if l == nil || l.twin == nil || l.twin.attempt != id.Attempt || l.twin.worker != from {
		return nil
	}
	return l
}

func (l *live) twinID() grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Job: l.job.id, Index: l.index}, Attempt: l.twin.attempt}
}

// begins makes the second copy of a task on a node, as offer makes the first.
func (n *Node) begins(now grid.Time, l *live, c balance.Choice, fx *grid.Effects) {
	t, epoch := l.t(), uint32(1)
	if g := l.job.guard; g != nil {
		epoch = g.reg.State().Epoch
	}
	t.made = t.next(epoch)
	s := &twin{attempt: t.made, worker: c.Node, placed: n.wall.At(now).UnixNano()}
	s.chosen, l.twin = now, s
	n.setOut(now, &s.word)
	n.stats.Copies++
	n.dare(now, l.class(), c.Node)
	n.trace(t, grid.Trace{At: now, What: grid.TraceCopied, Node: c.Node, ECT: grid.Seconds(c.ECT)})
	n.note(balance.Outcome{Kind: balance.Placed, At: now, Node: c.Node, Class: l.class()})
	n.saveTask(l.job, l.index, fx)
	if c.Node == n.cfg.Self {
		s.accepted, s.deadline = true, grid.Never
		n.stats.Local++
		n.take(now, n.cfg.Self, n.offerOf(l, l.twinID()), fx)
		return
	}
	n.stats.Moved++
	n.entrusted(now, &s.word, l.class(), c.Node, c.ECT)
	s.deadline = now.Add(n.cfg.Lease)
	n.wakeLease(l, fx)
	n.sendTwin(now, l, fx)
}

// sendTwin offers the second copy, again if there was no answer.
func (n *Node) sendTwin(now grid.Time, l *live, fx *grid.Effects) {
	s := l.twin
	s.sent = now
	if n.acts(now, l.job) { // its lease goes on only if it was heard
		fx.Send(s.worker, grid.KindOffer).Offer = *n.offerOf(l, l.twinID())
	}
	fx.Wake(now.Add(n.cfg.Lease/4), grid.TimerOffer, l.handle)
}

// offerOf says what is offered with a second copy. It has no age: its task runs already, and goes before nobody in a queue.
func (n *Node) offerOf(l *live, id grid.AttemptID) *grid.Offer {
	o := &grid.Offer{ID: id, Spec: l.job.spec, Class: l.class(), Lease: n.cfg.Lease}
	if g := l.job.guard; g != nil {
		o.Members = slices.Clone(g.reg.Members())
	}
	return o
}

// acceptedTwin notes that the worker has the second copy.
func (n *Node) acceptedTwin(now grid.Time, l *live, fx *grid.Effects) {
	s := l.twin
	if !s.accepted {
		s.accepted = true
		n.discovery.Tried(now, s.worker, &l.job.spec.Needs, l.job.spec.Engine, true, fx)
		n.trace(l.t(), grid.Trace{At: now, What: grid.TraceAccepted, Node: s.worker})
	}
	s.deadline = max(s.deadline, now.Add(n.cfg.Lease))
}

// twinWake looks at the second copy when a timer of its task comes.
func (n *Node) twinWake(now grid.Time, k grid.TimerKind, l *live, fx *grid.Effects) {
	s := l.twin
	switch {
	case k == grid.TimerOffer && !s.accepted && now >= s.sent.Add(n.cfg.Lease/4):
		n.sendTwin(now, l, fx)
	case k == grid.TimerLease && now >= s.deadline && !n.acts(now, l.job): // an owner that may be none gives nothing up
		s.deadline = now.Add(n.cfg.Lease)
	case k == grid.TimerLease && now >= s.deadline:
		n.unpair(now, l, grid.Refusal{Why: grid.WhySilent}, true, fx)
	}
	if k == grid.TimerLease && l.twin != nil {
		n.wakeLease(l, fx)
	}
}

// unpair lets go of the second copy, which is told nothing: it is lost, or its node said that it is not there.
func (n *Node) unpair(now grid.Time, l *live, why grid.Refusal, lost bool, fx *grid.Effects) {
	s := l.twin
	n.unquiet(now, l.job, s.worker)
	n.returned(now, &s.word, s.worker, false)
	if lost {
		n.lostAt(now, l, s.worker, why)
		n.survive(l, s.worker, why)
		l.out = append(l.out, out{node: s.worker, why: why, until: now.Add(n.cfg.Lease), soft: true})
	} else {
		n.note(balance.Outcome{Kind: balance.Refused, At: now, Node: s.worker, Class: l.class()})
		n.exclude(now, l, s.worker, why)
	}
	l.twin = nil
	n.saveTask(l.job, l.index, fx)
	n.bags.due = true
}

// survive notes that a copy was lost while the other one lives. That costs the task none of its retries; but after as many such losses as it
// has retries, or on as many nodes as end a task, there is no further copy, or one that kills its nodes would do so for ever.
func (n *Node) survive(l *live, worker grid.NodeID, why grid.Refusal) {
	l.fallen++
	l.single = n.strike(l, worker, why) != "" || l.fallen > l.job.spec.Retries || l.single
}

// tellOff drops an attempt of a task at its worker: the other copy goes on, or was the first to end.
func (n *Node) tellOff(now grid.Time, l *live, worker grid.NodeID, id grid.AttemptID, fx *grid.Effects) {
	if worker == n.cfg.Self {
		n.forget(now, id, fx)
		return
	}
	if l.job.calm == nil { // else who cancelled waits for this attempt by name
		n.unquiet(now, l.job, worker)
	}
	m := batch(fx, n.sent, worker, grid.KindDrop)
	m.Attempts = append(m.Attempts, id)
}

// promote makes the second copy the attempt that the task stands at; whatever there was to do about the one before is done.
func (n *Node) promote(now grid.Time, l *live, fx *grid.Effects) {
	t, s := l.t(), l.twin
	n.dequeue(l)
	t.attempt, t.worker, t.placed = s.attempt, s.worker, s.placed
	l.word, l.sent, l.deadline, l.twin = s.word, s.sent, s.deadline, nil
	l.result, l.copies, l.fetches = nil, nil, 0
	if s.accepted {
		l.phase = placed
		n.setState(l.job, l.index, grid.Placed, fx)
	} else {
		l.phase = offered
		n.deciding++
		n.setState(l.job, l.index, grid.Offered, fx)
	}
	n.saveTask(l.job, l.index, fx)
	n.wakeLease(l, fx)
	n.bags.due = true
}

// twinEnded takes the result of a second copy, and reports whether it is the task's: then the task stands at it, and the
// other attempt is dropped. While the files of the other's result are on their way nothing is said: it is told again.
func (n *Node) twinEnded(now grid.Time, l *live, from grid.NodeID, id grid.AttemptID, r *grid.Result, fx *grid.Effects) bool {
	t := l.t()
	switch {
	case !r.Succeeded():
		n.release(from, id, t, fx)
		n.ending(now, l.class(), from, r)
		l.single = l.single || r.Cause != grid.Lost
		n.unpair(now, l, failure(r), r.Cause == grid.Lost, fx)
		return false
	case l.result != nil:
		return false
	}
	n.decided(l)
	n.returned(now, &l.word, t.worker, false)
	n.tellOff(now, l, t.worker, l.id(), fx)
	n.promote(now, l, fx)
	return true
}

// yield leaves a task to its second copy: the result of the first is no success.
func (n *Node) yield(now grid.Time, l *live, from grid.NodeID, id grid.AttemptID, r *grid.Result, fx *grid.Effects) {
	t := l.t()
	n.decided(l)
	n.ending(now, l.class(), l.t().worker, r)
	n.returned(now, &l.word, t.worker, r.Cause != grid.Lost && !r.Cause.Refused())
	if r.Cause == grid.Lost {
		n.lostAt(now, l, from, failure(r))
		n.survive(l, from, failure(r))
	} else {
		n.strike(l, from, failure(r))
		l.single = true
	}
	n.promote(now, l, fx)
	n.release(from, id, t, fx)
}

// failure says why a copy is given up whose result is no success.
func failure(r *grid.Result) grid.Refusal {
	why := grid.WhyFailed
	switch r.Cause {
	case grid.Lost:
		why = grid.WhyLost
	case grid.CannotExecute, grid.NotFound:
		why = grid.WhyProgram
	}
	return grid.Refusal{Why: why, Detail: r.Error}
}
