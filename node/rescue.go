package node

import "skep/grid"

// A node that takes work, keeps its leases alive and never ends it cannot be told from one that has a long task, by that task
// alone. It can by others: what is taken from it again, and what not, is told in DESIGN.md.

const (
	rescueLeast = 30.0 // seconds: no attempt is taken back sooner
	wide        = 3    // how much longer for each squared coefficient of variation of the class
	fewOvertook = 8    // results that must have come from others since the attempt was made
	unheard     = 4    // times as long where fewer have come, or the run time is only what others say
	trustedFor  = 16   // times as long where the node has lately had at least as many results on time as it has late attempts
)

// overtaken reports whether an attempt has been out for so long that it is taken back:
//
//	age > max(rescueLeast, patience · promise · (1 + wide·c²)) · doubts · 2^(times it was taken back)
//
// and as soon as it is late, age > patience · promise · 2^(…), where the node was found before not to end what it has.
// Here promise is what was expected of it, or what is usual now if that is more, and the time for its inputs. A task with a time
// limit may take that: age > rescueLeast + patience · promise + limit.
func (n *Node) overtaken(now grid.Time, l *live) bool {
	to := l.t().worker
	if to == n.cfg.Self || l.result != nil || l.phase != placed || l.job.spec.Retries == 0 || len(n.cfg.Given) > 0 {
		return false
	}
	c, s, usual := n.rates.get(l.class()), n.standing(to), n.expected(l.class())
	if c == nil || usual == 0 { // nobody has ever been seen to end one
		return false
	}
	age, promise := now.Sub(l.begun).Seconds(), patience*(max(l.promise, usual)+n.fetchTime(l.job.spec))
	if limit := l.job.spec.Timeout; limit > 0 {
		return age > rescueLeast+promise+limit.Seconds()
	}
	times := float64(uint32(1) << l.rescued)
	if s != nil {
		n.date(l, s, usual)
		if s.held > 0 {
			return age > promise*times
		}
	}
	long := max(rescueLeast, promise*(1+wide*c.swing())) * times
	if n.heard-l.since < fewOvertook<<l.rescued || c.ends < fewEnds {
		long *= unheard
	}
	if s == nil || s.late(now) <= int(s.kept) {
		long *= trustedFor
	}
	return age > long
}

// setOut notes that an attempt is out from now on.
func (n *Node) setOut(now grid.Time, x *word) { x.begun, x.since = now, n.heard }

// wary reports whether the node was found not to end what it has and is not yet to be tried again, unless nobody else is left.
func (s *standing) wary(now grid.Time) bool { return s != nil && s.held > 0 && now < s.until }

// date says by when an attempt should have ended, where that was not known when it was given.
func (n *Node) date(l *live, s *standing, usual float64) {
	if l.late == grid.Never {
		s.undue(l.late)
		l.late = l.chosen.Add(grid.Seconds(patience*usual)) + slack
		s.dueAt(l.late)
	}
}

// rescue takes a task back from a node that does not end it. It is no loss that counts against its retries: the node may be
// well, and the task long.
func (n *Node) rescue(now grid.Time, l *live, fx *grid.Effects) {
	t, why := l.t(), grid.Refusal{Why: grid.WhyStuck}
	if s := n.standing(t.worker); s != nil {
		if now >= s.until && s.late(now) > int(s.kept) {
			s.held = min(s.held+1, mostHeld)
			s.until = now.Add(min(firstAvoided<<s.held, longAvoided))
		}
		s.lost(now)
	}
	n.returned(now, &l.word, t.worker, false)
	n.rates.stale = true
	n.stats.Lost++
	n.trace(t, grid.Trace{At: now, What: grid.TraceLost, Node: t.worker, Refusal: why})
	n.tellOff(now, l, t.worker, l.id(), fx)
	l.rescued, l.promise = min(l.rescued+1, mostRescued), 0
	l.out = append(l.out, out{node: t.worker, why: why, until: now.Add(n.cfg.Lease), soft: true})
	if l.twin != nil {
		n.promote(now, l, fx)
		return
	}
	l.phase = idle
	n.setState(l.job, l.index, grid.Pending, fx)
	n.saveTask(l.job, l.index, fx)
	n.retry(l)
}

// What bounds the doublings.
const (
	mostRescued = 12
	mostHeld    = 8
)
