package node

import (
	"slices"
	"time"

	"skep/grid"
)

// lease gives the attempt a full lease from now.
func (n *Node) lease(now grid.Time, l *live, fx *grid.Effects) {
	l.deadline = now.Add(n.cfg.Lease)
	n.wakeLease(l, fx)
}

// grace lets the attempt be for half a lease more, in which a worker that lives beats.
func (n *Node) grace(now grid.Time, l *live, fx *grid.Effects) {
	l.deadline = max(l.deadline, now.Add(n.cfg.Lease/2))
	n.wakeLease(l, fx)
}

// wakeLease sees to a wake at the deadline or before: one that is under way already serves, or timers would
// grow in number with every time that the worker came and went. What runs here has no lease.
func (n *Node) wakeLease(l *live, fx *grid.Effects) {
	due := grid.Never
	if l.t().worker != n.cfg.Self {
		due = l.deadline
	}
	if l.twin != nil {
		due = min(due, l.twin.deadline)
	}
	if due < grid.Never && (l.alarm == 0 || due < l.alarm) {
		l.alarm = due
		fx.Wake(due, grid.TimerLease, l.handle)
	}
}

// suspect shortens the leases of what a node had that is no longer connected: if it lives it will be back
// and beat, and if it is dead its tasks need not wait for the whole lease.
func (n *Node) suspect(now grid.Time, id grid.NodeID, fx *grid.Effects) {
	for _, h := range n.handlesInOrder() {
		l := n.lives.get(h)
		if l.twin != nil && l.twin.worker == id {
			l.twin.deadline = min(l.twin.deadline, now.Add(n.cfg.Lease/3))
			n.wakeLease(l, fx)
		}
		switch {
		case l.phase == polling:
			if l.hears(id) && len(l.open) == 0 {
				n.choose(now, l, fx)
			}
		case (l.phase == offered || l.phase == placed) && l.t().worker == id:
			l.deadline = min(l.deadline, now.Add(n.cfg.Lease/3))
			n.wakeLease(l, fx)
		}
	}
}

// hears strikes a node off those whose answers are to come, and reports whether it was among them.
func (l *live) hears(id grid.NodeID) bool {
	at := slices.Index(l.open, id)
	if at >= 0 {
		l.open = slices.Delete(l.open, at, at+1)
	}
	return at >= 0
}

// ask asks a node that is connected again what became of the attempts that it was given.
func (n *Node) ask(now grid.Time, id grid.NodeID, fx *grid.Effects) {
	var m *grid.Message
	for _, h := range n.handlesInOrder() {
		l := n.lives.get(h)
		about := l.id()
		switch {
		case (l.phase == offered || l.phase == placed) && l.t().worker == id:
			n.lease(now, l, fx)
		case l.twin != nil && l.twin.worker == id:
			about, l.twin.deadline = l.twinID(), now.Add(n.cfg.Lease)
			n.wakeLease(l, fx)
		default:
			continue
		}
		if m == nil || len(m.Attempts) >= grid.MaxBeats {
			m = fx.Send(id, grid.KindAsk)
		}
		m.Attempts = append(m.Attempts, about)
	}
}

// longestBack bounds how long a task that was lost again and again waits; the second loss waits a quarter of the
// lease, each further one twice as long as the one before.
const longestBack = 30 * time.Second

// lose gives an attempt up. The task runs again elsewhere, unless it was to run at most once or has been
// lost too often.
func (n *Node) lose(now grid.Time, l *live, why grid.Refusal, fx *grid.Effects) {
	t := l.t()
	n.unquiet(now, l.job, t.worker)
	n.decided(l)
	n.returned(now, &l.word, t.worker, false)
	l.phase = idle
	n.lostAt(now, l, t.worker, why)
	if why.Why == grid.WhyFetch {
		n.blame(now, l.class(), t.worker, false)
	}
	if l.twin != nil {
		n.survive(l, t.worker, why)
		n.promote(now, l, fx)
		return
	}
	t.lost++
	failed := n.strike(l, t.worker, why)
	if failed != "" || l.failed >= maxFailed || t.lost > l.job.spec.Retries {
		text := "lost: the node that ran it " + why.Why.String()
		if why.Detail != "" {
			text += ": " + why.Detail
		}
		switch {
		case failed != "":
			text = "lost: " + failed
		case l.failed >= maxFailed:
			text = why.Detail
		}
		if l.job.spec.Retries == 0 {
			text += "; it was to run at most once"
		}
		n.end(now, l.job, l.index, &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep, Error: clip(text)}, fx)
		return
	}
	l.result, l.copies, l.fetches = nil, nil, 0
	back := now.Add(min(n.cfg.Lease/4<<min(max(t.lost-2, 0), 10), longestBack))
	l.out = append(l.out, out{node: t.worker, why: why, until: max(back, now.Add(n.cfg.Lease)), soft: true})
	n.setState(l.job, l.index, grid.Pending, fx)
	n.saveTask(l.job, l.index, fx)
	if t.lost == 1 {
		n.retry(l)
		return
	}
	l.deadline = back
	n.park(l)
	fx.Wake(back, grid.TimerRetry, l.handle)
}

// lostAt holds a lost attempt against its node, and tells it in the task's story.
func (n *Node) lostAt(now grid.Time, l *live, worker grid.NodeID, why grid.Refusal) {
	if s := n.standing(worker); s != nil {
		s.lost(now)
		n.rates.stale = true
	}
	n.stats.Lost++
	n.trace(l.t(), grid.Trace{At: now, What: grid.TraceLost, Node: worker, Refusal: why})
}

// liveWake handles the timers of a task; a stale one finds another phase or a later deadline.
func (n *Node) liveWake(now grid.Time, k grid.TimerKind, l *live, fx *grid.Effects) {
	if k == grid.TimerLease {
		if now < l.alarm {
			return
		}
		l.alarm = 0
	}
	if l.twin != nil {
		n.twinWake(now, k, l, fx)
	}
	switch {
	case k == grid.TimerPoll && l.phase == polling && now >= l.deadline:
		n.choose(now, l, fx)
	case k == grid.TimerOffer && l.phase == offered && now >= l.sent.Add(n.cfg.Lease/4):
		n.sendOffer(now, l, fx)
	case k == grid.TimerLease && (l.phase == offered || l.phase == placed) && !n.acts(now, l.job): // an owner that may be none gives nothing up
		n.grace(now, l, fx)
	case k == grid.TimerLease && n.overtaken(now, l):
		n.rescue(now, l, fx)
	case k == grid.TimerLease && (l.phase == offered || l.phase == placed) && l.t().worker != n.cfg.Self:
		if l.result != nil { // it has ended and its files are on their way: that ends by itself
			n.lease(now, l, fx)
		} else if now < l.deadline {
			n.wakeLease(l, fx)
		} else if l.phase == offered {
			n.lose(now, l, grid.Refusal{Why: grid.WhySilent}, fx)
		} else {
			n.lose(now, l, grid.Refusal{Why: grid.WhyLost}, fx)
		}
	case k == grid.TimerRetry && l.phase == waits && now >= l.deadline:
		l.looks = true
		n.unwait(l)
	}
}

// handlesInOrder lists the live tasks, oldest handle first.
func (n *Node) handlesInOrder() []uint64 {
	hs := n.scratch.handles[:0]
	for l := range n.lives.all() {
		hs = append(hs, l.handle)
	}
	slices.Sort(hs)
	n.scratch.handles = hs
	return hs
}
