package reputation

import (
	"slices"
	"time"

	"skep/grid"
)

// Record is the track record of a worker. The methods that only read it may be called on nil: the node was never given
// an attempt.
type Record struct {
	node         grid.NodeID
	due          []grid.Time // when each outstanding attempt becomes late, ascending; grid.Never = unknown
	onTime       int8        // results on time, halved by each late one; as many late attempts are tolerated at once
	results      int8        // results, at most maxTrust
	dated        int8        // of results, those with a known usual run time
	reclaimed    int8        // times that its attempts were reclaimed, less the results since
	overrun      float64     // decayed mean of the time taken over the greater of expected and usual time
	doubt        float64     // seconds since the last result for which overrun counts in full
	backoffUntil grid.Time   // until then it gets no work; afterwards one attempt at a time
	last         grid.Time   // time of the last result
	ends         endTally    // attempts that brought a result, and attempts lost
	outages      endTally    // attempts that brought a result, and outages in which attempts were lost
	outageUntil  grid.Time   // losses before it belong to the latest outage
}

// Bounds of the records and of what is believed.
const (
	maxRecords       = 1024
	lateFactor       = 4                // an attempt is late after so many times the greater of expected, usual time
	lateSlack        = grid.Time(1e9)   // plus this
	maxTrust         = 16               // most late attempts tolerated, and most results counted
	probationPerCore = 4                // attempts per stated core that a node gets before its first result
	minProbation     = 8                // least such number of attempts
	probationCores   = 64               // stated cores believed before the first result
	maxBoast         = 8                // multiple of the usual rate believed before the first result
	overrunWeight    = 0.25             // least weight of a result in overrun
	overrunTolerance = 2                // overrun up to which a node's estimate is believed
	overrunLimit     = 3                // overrun above which a node counts as unreliable
	maxOverrun       = 2 * overrunLimit // most that one result counts for, and twice what counted before
	recordHalfLife   = 300.0            // seconds in which overrun decays by half, until the next result
	priorReturns     = 2                // returned attempts that every node is credited with initially
	maxLossDoublings = 5                // doublings of the back-off of a node that loses what it gets
)

// addDue adds an outstanding attempt's due time, removeDue removes it.
func (rec *Record) addDue(t grid.Time) {
	at, _ := slices.BinarySearch(rec.due, t)
	rec.due = slices.Insert(rec.due, at, t)
}

func (rec *Record) removeDue(t grid.Time) {
	if at, ok := slices.BinarySearch(rec.due, t); ok {
		rec.due = slices.Delete(rec.due, at, at+1)
	}
}

// lateCount is the number of outstanding attempts past their due time.
func (rec *Record) lateCount(now grid.Time) int {
	n, _ := slices.BinarySearch(rec.due, now+1)
	return n
}

// lost counts an attempt whose lease ran out. A node that cannot be reached loses all that it has at once: what is lost
// within two leases of the first loss is one outage. Not from the latest loss on, or a node that loses all that it gets
// would have one outage for ever.
func (rec *Record) lost(now grid.Time, lease time.Duration) {
	rec.onTime /= 2
	rec.ends.add(now, false)
	if now >= rec.outageUntil {
		rec.outages.add(now, false)
		rec.outageUntil = now.Add(2 * lease)
	}
}

// lossBackoff is for how long a task that the node has lost prefers others to it: a lease, doubled for each outage
// that the node has had lately beyond the attempts that brought a result.
func (rec *Record) lossBackoff(now grid.Time, lease time.Duration) time.Duration {
	rec.outages.decay(now)
	beyond := min(max(int(rec.outages.bad-rec.outages.good+0.5)-1, 0), maxLossDoublings)
	return lease << beyond
}

// result counts a result: expected and actual time, in seconds.
func (rec *Record) result(now grid.Time, expected, took float64, late bool) {
	rec.ends.add(now, true)
	rec.outages.add(now, true)
	if late {
		rec.onTime /= 2
	} else {
		rec.onTime = min(rec.onTime+1, maxTrust)
	}
	rec.results, rec.reclaimed, rec.last = min(rec.results+1, maxTrust), max(rec.reclaimed-1, 0), now
	if expected > 0 {
		rec.dated = min(rec.dated+1, maxTrust)
		ratio, weight := took/expected, 1/float64(rec.dated)
		if weight <= overrunWeight { // a class that has grown does not make the node unreliable at once
			ratio, weight = min(ratio, max(maxOverrun, 2*rec.overrun)), overrunWeight
		}
		rec.overrun += weight * (ratio - rec.overrun)
		rec.updateDoubt(expected, took)
	}
}

// unreliable reports whether the node takes far longer than it says.
func (rec *Record) unreliable() bool { return rec.overrun > overrunLimit }

// Delivered reports whether the node has brought a result.
func (rec *Record) Delivered() bool { return rec != nil && rec.results > 0 }

// Proven reports whether the node has delivered and is not unreliable.
func (rec *Record) Proven() bool { return rec.Delivered() && !rec.unreliable() }

// Late reports whether more of the node's attempts are late than its results on time excuse.
func (rec *Record) Late(now grid.Time) bool {
	return rec != nil && rec.lateCount(now) > int(rec.onTime)
}

// OnProbation reports whether the node, of so many stated cores, gets no further attempt for now: too many of its
// attempts are late, or it has as many as a node may have before it has delivered.
func (rec *Record) OnProbation(now grid.Time, cores grid.MilliCPU) bool {
	if rec == nil {
		return false
	}
	if rec.Late(now) || rec.reclaimed > 0 && len(rec.due) > 0 {
		return true
	}
	initial := max(minProbation, probationPerCore*int(min(cores, probationCores*grid.CPU)/grid.CPU))
	return rec.results < maxTrust && len(rec.due) >= initial<<rec.results
}

// GetsNoRanks reports whether the node is asked for no slots of gangs now. One on probation is not, unless its late
// attempts are at most half as many as the results that it has brought lately: these are no loss, they wait there, and
// in a slot nothing waits.
func (rec *Record) GetsNoRanks(now grid.Time, cores grid.MilliCPU) bool {
	if !rec.OnProbation(now, cores) {
		return false
	}
	lately := rec.ends
	lately.decay(now)
	return rec.reclaimed > 0 || rec.results < maxTrust || 2*float64(rec.lateCount(now)) > lately.good
}

// BackoffUntil returns until when the node gets no work since it had stragglers, and whether it gets one attempt at a
// time from then on; 0 and false = it has none on record.
func (rec *Record) BackoffUntil() (until grid.Time, single bool) {
	if rec == nil || rec.reclaimed == 0 {
		return 0, false
	}
	return rec.backoffUntil, true
}

// BackingOff reports whether the node had stragglers and its back-off is not over; such a node is used only if no other
// is left.
func (rec *Record) BackingOff(now grid.Time) bool {
	return rec != nil && rec.reclaimed > 0 && now < rec.backoffUntil
}
