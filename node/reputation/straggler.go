package reputation

import (
	"skep/grid"
)

// Stragglers. A node that accepts work, renews its leases and never ends it cannot be told from one with a long task by
// that task alone; other results tell. ../coordinator/DESIGN.md says what is reclaimed and what is not.

const (
	minReclaimAge   = 30.0 // seconds; least age of a reclaimed attempt
	variationWeight = 3    // weight of the class's squared coefficient of variation in the allowed age
	minOvertakers   = 8    // results of others needed since the attempt was made
	unknownFactor   = 4    // allowed age is multiplied by this if fewer came, or only others report the run time
	trustedFactor   = 16   // multiplied by this if the node's recent results on time are at least its late attempts
)

// maxHolds bounds the exponent of a worker's back-off.
const maxHolds = 8

// Straggler reports whether an attempt is so old that it is reclaimed:
//
//	age > max(minReclaimAge, lateFactor · expected · (1 + variationWeight·c²)) · doubt · 2^reclaims
//
// where doubt is the product of unknownFactor and trustedFactor as far as they apply. If the node had stragglers before
// (Record.reclaimed), age > lateFactor · expected · 2^reclaims is enough. Here expected is the greater of the expected
// and the usual time, plus the time to fetch the inputs. A task with a time limit is allowed minReclaimAge + lateFactor
// · expected + limit.
func (r *Records) Straggler(now grid.Time, p *grid.Expectation, worker grid.NodeID, u grid.RunEstimate) bool {
	age, expected := now.Sub(p.SentAt).Seconds(), lateFactor*(max(p.Expected, u.RunTime)+u.Fetch)
	if u.Limit > 0 {
		return age > minReclaimAge+expected+u.Limit.Seconds()
	}
	rec, doubling := r.Of(worker), float64(uint32(1)<<u.Reclaims)
	if rec != nil {
		rec.date(p, u.RunTime)
		if rec.reclaimed > 0 {
			return age > expected*doubling
		}
	}
	allowed := max(minReclaimAge, expected*(1+variationWeight*u.Variation)) * doubling
	if r.results-p.Results < minOvertakers<<u.Reclaims || !u.Known {
		allowed *= unknownFactor
	}
	if !rec.Late(now) {
		allowed *= trustedFactor
	}
	return age > allowed
}

// Reclaimed counts a straggler of the node as lost. If it has too many late attempts, and its last back-off is over, it
// gets no work for a while: minBackoff, doubled each time, at most maxBackoff.
func (r *Records) Reclaimed(now grid.Time, id grid.NodeID) {
	r.changed = true
	rec := r.Of(id)
	if rec == nil {
		return
	}
	if now >= rec.backoffUntil && rec.Late(now) {
		rec.reclaimed = min(rec.reclaimed+1, maxHolds)
		rec.backoffUntil = now.Add(min(minBackoff<<rec.reclaimed, maxBackoff))
	}
	rec.lost(now, 0) // an outage of its own: the others that it has may go on
}
