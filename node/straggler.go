package node

import "skep/grid"

// Stragglers. A node that accepts work, renews its leases and never ends it cannot be told from one with a long task by
// that task alone; other results tell. DESIGN.md says what is reclaimed and what is not.

const (
	minReclaimAge   = 30.0 // seconds; least age of a reclaimed attempt
	variationWeight = 3    // weight of the class's squared coefficient of variation in the allowed age
	minOvertakers   = 8    // results of others needed since the attempt was made
	unknownFactor   = 4    // allowed age is multiplied by this if fewer came, or only others report the run time
	trustedFactor   = 16   // multiplied by this if the node's recent results on time are at least its late attempts
)

// isStraggler reports whether an attempt is so old that it is reclaimed:
//
//	age > max(minReclaimAge, lateFactor · promise · (1 + variationWeight·c²)) · doubt · 2^reclaims
//
// where doubt is the product of unknownFactor and trustedFactor as far as they apply. If the node had stragglers before
// (trackRecord.holds), age > lateFactor · promise · 2^reclaims is enough. Here promise is the greater of the expected
// and the usual time, plus the time to fetch the inputs. A task with a time limit is allowed minReclaimAge + lateFactor
// · promise + limit.
func (n *Node) isStraggler(now grid.Time, l *liveTask) bool {
	to := l.task().worker
	if to == n.cfg.Self || l.result != nil || l.phase != placed || l.job.spec.Retries == 0 || len(n.cfg.Given) > 0 {
		return false
	}
	c, rec, usual := n.rates.get(l.class()), n.recordOf(to), n.expected(l.class())
	if c == nil || usual == 0 { // no task of the class has ever ended
		return false
	}
	age, promise := now.Sub(l.sentAt).Seconds(), lateFactor*(max(l.expected, usual)+n.fetchTime(l.job.spec))
	if limit := l.job.spec.Timeout; limit > 0 {
		return age > minReclaimAge+promise+limit.Seconds()
	}
	doubling := float64(uint32(1) << l.reclaims)
	if rec != nil {
		n.datePromise(l, rec, usual)
		if rec.holds > 0 {
			return age > promise*doubling
		}
	}
	allowed := max(minReclaimAge, promise*(1+variationWeight*c.endVariation())) * doubling
	if n.results-l.resultsAtStart < minOvertakers<<l.reclaims || c.ends < minEnds {
		allowed *= unknownFactor
	}
	if rec == nil || rec.lateCount(now) <= int(rec.onTime) {
		allowed *= trustedFactor
	}
	return age > allowed
}

// startPromise records that an attempt is outstanding from now on.
func (n *Node) startPromise(now grid.Time, p *promise) { p.sentAt, p.resultsAtStart = now, n.results }

// backingOff reports whether the node had stragglers and its back-off is not over; such a node is used only if no other
// is left.
func (rec *trackRecord) backingOff(now grid.Time) bool {
	return rec != nil && rec.holds > 0 && now < rec.backoffUntil
}

// datePromise sets when an attempt becomes late, if that was unknown when it was given.
func (n *Node) datePromise(l *liveTask, rec *trackRecord, usual float64) {
	if l.lateAt == grid.Never {
		rec.removeDue(l.lateAt)
		l.lateAt = l.madeAt.Add(grid.Seconds(lateFactor*usual)) + lateSlack
		rec.addDue(l.lateAt)
	}
}

// reclaimStraggler takes a task back from a node that does not end it. This does not count against the task's retries:
// the node may be well, and the task long.
func (n *Node) reclaimStraggler(now grid.Time, l *liveTask, fx *grid.Effects) {
	t, why := l.task(), grid.Refusal{Why: grid.WhyStuck}
	if rec := n.recordOf(t.worker); rec != nil {
		if now >= rec.backoffUntil && rec.lateCount(now) > int(rec.onTime) {
			rec.holds = min(rec.holds+1, maxHolds)
			rec.backoffUntil = now.Add(min(minBackoff<<rec.holds, maxBackoff))
		}
		rec.attemptLost(now)
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

// Bounds of the exponents of two.
const (
	maxReclaims = 12
	maxHolds    = 8
)
