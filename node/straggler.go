package node

import "skep/grid"

// A node that takes work, keeps its leases alive and never ends it cannot be told from one that has a long task, by that task
// alone. It can by others: what is taken from it again, and what not, is told in DESIGN.md.

const (
	minReclaimAge   = 30.0 // seconds: no attempt is taken back sooner
	variationWeight = 3    // how much longer for each squared coefficient of variation of the class
	minOvertakers   = 8    // results that must have come from others since the attempt was made
	unknownFactor   = 4    // times as long where fewer have come, or the run time is only what others say
	trustedFactor   = 16   // times as long where the node has lately had at least as many results on time as it has late attempts
)

// isStraggler reports whether an attempt has been out for so long that it is taken back:
//
//	age > max(rescueLeast, patience · promise · (1 + wide·c²)) · doubts · 2^(times it was taken back)
//
// and as soon as it is late, age > patience · promise · 2^(…), where the node was found before not to end what it has.
// Here promise is what was expected of it, or what is usual now if that is more, and the time for its inputs. A task with a time
// limit may take that: age > rescueLeast + patience · promise + limit.
func (n *Node) isStraggler(now grid.Time, l *liveTask) bool {
	to := l.task().worker
	if to == n.cfg.Self || l.result != nil || l.phase != placed || l.job.spec.Retries == 0 || len(n.cfg.Given) > 0 {
		return false
	}
	c, s, usual := n.rates.get(l.class()), n.recordOf(to), n.expected(l.class())
	if c == nil || usual == 0 { // nobody has ever been seen to end one
		return false
	}
	age, promise := now.Sub(l.sentAt).Seconds(), lateFactor*(max(l.expected, usual)+n.fetchTime(l.job.spec))
	if limit := l.job.spec.Timeout; limit > 0 {
		return age > minReclaimAge+promise+limit.Seconds()
	}
	times := float64(uint32(1) << l.reclaims)
	if s != nil {
		n.datePromise(l, s, usual)
		if s.holds > 0 {
			return age > promise*times
		}
	}
	long := max(minReclaimAge, promise*(1+variationWeight*c.endVariation())) * times
	if n.results-l.resultsAtStart < minOvertakers<<l.reclaims || c.ends < minEnds {
		long *= unknownFactor
	}
	if s == nil || s.lateCount(now) <= int(s.onTime) {
		long *= trustedFactor
	}
	return age > long
}

// startPromise notes that an attempt is out from now on.
func (n *Node) startPromise(now grid.Time, x *promise) { x.sentAt, x.resultsAtStart = now, n.results }

// backingOff reports whether the node was found not to end what it has and is not yet to be tried again, unless nobody else is left.
func (s *trackRecord) backingOff(now grid.Time) bool {
	return s != nil && s.holds > 0 && now < s.backoffUntil
}

// datePromise says by when an attempt should have ended, where that was not known when it was given.
func (n *Node) datePromise(l *liveTask, s *trackRecord, usual float64) {
	if l.lateAt == grid.Never {
		s.removeDue(l.lateAt)
		l.lateAt = l.madeAt.Add(grid.Seconds(lateFactor*usual)) + lateSlack
		s.addDue(l.lateAt)
	}
}

// reclaimStraggler takes a task back from a node that does not end it. It is no loss that counts against its retries: the node may be
// well, and the task long.
func (n *Node) reclaimStraggler(now grid.Time, l *liveTask, fx *grid.Effects) {
	t, why := l.task(), grid.Refusal{Why: grid.WhyStuck}
	if s := n.recordOf(t.worker); s != nil {
		if now >= s.backoffUntil && s.lateCount(now) > int(s.onTime) {
			s.holds = min(s.holds+1, maxHolds)
			s.backoffUntil = now.Add(min(minBackoff<<s.holds, maxBackoff))
		}
		s.attemptLost(now)
	}
	n.attemptReturned(now, &l.promise, t.worker, false)
	n.rates.stale = true
	n.stats.Lost++
	n.trace(t, grid.Trace{At: now, What: grid.TraceLost, Node: t.worker, Refusal: why})
	n.dropAttempt(now, l, t.worker, l.id(), fx)
	l.reclaims, l.expected = min(l.reclaims+1, maxReclaims), 0
	l.excluded = append(l.excluded, exclusion{node: t.worker, why: why, until: now.Add(n.cfg.Lease), preference: true})
	if l.backup != nil {
		n.promoteBackup(now, l, fx)
		return
	}
	l.phase = idle
	n.setState(l.job, l.index, grid.Pending, fx)
	n.saveTask(l.job, l.index, fx)
	n.retry(l)
}

// What bounds the doublings.
const (
	maxReclaims = 12
	maxHolds    = 8
)
