package node

import (
	"slices"

	"skep/grid"
)

// trackRecord is the first-hand record of a worker: attempts outstanding, actual against promised times. It rests on no
// claim: a node that says it is fast and idle gets little until it has delivered, and then its results replace its
// claims.
type trackRecord struct {
	node         grid.NodeID
	due          []grid.Time // when each outstanding attempt becomes late, ascending; grid.Never = unknown
	onTime       int8        // results on time, halved by each late one; as many late attempts are tolerated at once
	results      int8        // results, at most maxTrust
	dated        int8        // of results, those with a known usual run time
	holds        int8        // times that its attempts were reclaimed, less the results since
	overrun      float64     // decayed mean of the time taken over the greater of promised and usual time
	backoffUntil grid.Time   // until then it gets no work; afterwards one attempt at a time
	last         grid.Time   // time of the last result
	ends         endTally    // attempts that brought a result, and attempts lost
}

// Bounds of the records and of what is believed.
const (
	maxRecords       = 1024
	lateFactor       = 4              // an attempt is late after this many times the greater of promise and usual run time
	lateSlack        = grid.Time(1e9) // plus this
	maxTrust         = 16             // most late attempts tolerated, and most results counted
	probationPerCore = 4              // attempts per stated core that a node gets before its first result
	minProbation     = 8              // least such number of attempts
	probationCores   = 64             // stated cores believed before the first result
	maxBoast         = 8              // multiple of the usual rate believed before the first result
	overrunWeight    = 0.25           // least weight of a result in overrun
	overrunTolerance = 2              // overrun up to which a node's estimate is believed
	overrunLimit     = 3              // overrun above which a node counts as unreliable
	recordHalfLife   = 300.0          // seconds in which overrun decays by half, until the next result
)

// recordOf returns the track record of a node; nil if it was never given an attempt.
func (n *Node) recordOf(id grid.NodeID) *trackRecord {
	if at, ok := n.findRecord(id); ok {
		return n.records[at]
	}
	return nil
}

func (n *Node) findRecord(id grid.NodeID) (int, bool) {
	return slices.BinarySearchFunc(n.records, id, func(rec *trackRecord, id grid.NodeID) int { return rec.node.Compare(id) })
}

// recordCursor is the rest of the records, for a caller that asks in the order of identities.
type recordCursor []*trackRecord

// next returns the track record of a node; nil if it was never given an attempt.
func (rec *recordCursor) next(id grid.NodeID) *trackRecord {
	for ; len(*rec) > 0; *rec = (*rec)[1:] {
		if c := (*rec)[0].node.Compare(id); c == 0 {
			return (*rec)[0]
		} else if c > 0 {
			break
		}
	}
	return nil
}

// givenAttempt records that a node was given an attempt, and when that becomes late. Without any end of the class seen
// here that is unknown.
func (n *Node) givenAttempt(now grid.Time, p *promise, class string, id grid.NodeID, ect float64) {
	if len(n.cfg.Given) > 0 { // all rates are given
		return
	}
	at, ok := n.findRecord(id)
	if !ok {
		if len(n.records) >= maxRecords {
			n.evictRecord()
			at, _ = n.findRecord(id)
		}
		n.records = slices.Insert(n.records, at, &trackRecord{node: id})
	}
	rec := n.records[at]
	p.expected, p.lateAt = 0, grid.Never
	if usual := n.expected(class); usual > 0 {
		p.expected = max(ect, usual)
		p.lateAt = now.Add(grid.Seconds(lateFactor*max(ect, usual))) + lateSlack
	}
	rec.addDue(p.lateAt)
}

// addDue adds an outstanding attempt's due time, removeDue removes it.
func (rec *trackRecord) addDue(t grid.Time) {
	at, _ := slices.BinarySearch(rec.due, t)
	rec.due = slices.Insert(rec.due, at, t)
}

func (rec *trackRecord) removeDue(t grid.Time) {
	if at, ok := slices.BinarySearch(rec.due, t); ok {
		rec.due = slices.Delete(rec.due, at, at+1)
	}
}

// lateCount is the number of outstanding attempts past their due time.
func (rec *trackRecord) lateCount(now grid.Time) int {
	n, _ := slices.BinarySearch(rec.due, now+1)
	return n
}

// evictRecord makes room: it evicts the idle node with the oldest last result, or the first record if none is idle.
func (n *Node) evictRecord() {
	victim := 0
	for i, rec := range n.records {
		if o := n.records[victim]; len(rec.due) == 0 && (len(o.due) > 0 || rec.last < o.last) {
			victim = i
		}
	}
	n.records = slices.Delete(n.records, victim, victim+1)
}

// attemptReturned removes an attempt from its worker's outstanding ones, before anything else about it changes;
// delivered = it brought a result.
func (n *Node) attemptReturned(now grid.Time, p *promise, worker grid.NodeID, delivered bool) {
	if p.lateAt == 0 {
		return
	}
	due := p.lateAt
	p.lateAt = 0
	rec := n.recordOf(worker)
	if rec == nil {
		return
	}
	rec.removeDue(due)
	if delivered {
		rec.recordResult(now, p.expected, max(now.Sub(p.madeAt).Seconds(), 0), now > due)
		n.rates.stale = n.rates.stale || rec.results == 1 || rec.unreliable()
	}
	n.resumeAwaitingProof()
}

// attemptLost counts a lost attempt against its node.
func (rec *trackRecord) attemptLost(now grid.Time) {
	rec.onTime /= 2
	rec.ends.add(now, false)
}

// recordResult records a result: promised and actual time, in seconds.
func (rec *trackRecord) recordResult(now grid.Time, promise, took float64, late bool) {
	rec.ends.add(now, true)
	if late {
		rec.onTime /= 2
	} else {
		rec.onTime = min(rec.onTime+1, maxTrust)
	}
	rec.results, rec.holds, rec.last = min(rec.results+1, maxTrust), max(rec.holds-1, 0), now
	if promise > 0 {
		rec.dated = min(rec.dated+1, maxTrust)
		rec.overrun += max(overrunWeight, 1/float64(rec.dated)) * (took/promise - rec.overrun)
	}
}

// unreliable reports whether the node takes far longer than it says.
func (rec *trackRecord) unreliable() bool { return rec.overrun > overrunLimit }

// onProbation reports whether a node gets no further attempt for now: too many of its attempts are late, or it has as
// many as a node may have before it has delivered.
func (rec *trackRecord) onProbation(now grid.Time, cores grid.MilliCPU) bool {
	if rec == nil {
		return false
	}
	if rec.lateCount(now) > int(rec.onTime) || rec.holds > 0 && len(rec.due) > 0 {
		return true
	}
	initial := max(minProbation, probationPerCore*int(min(cores, probationCores*grid.CPU)/grid.CPU))
	return rec.results < maxTrust && len(rec.due) >= initial<<rec.results
}

// maxRetriesPerProof bounds the waiting tasks that retry when a result was delivered here or elsewhere.
const maxRetriesPerProof = 4

// resumeAwaitingProof resumes some of the tasks that wait for a node on probation to deliver.
func (n *Node) resumeAwaitingProof() {
	left := min(maxRetriesPerProof, n.awaitingProof)
	for i := 0; i < len(n.waiting) && left > 0; {
		if l := n.waiting[i]; l.awaitsProof {
			l.lookAgain = true
			n.resumeTask(l)
			left--
			continue
		}
		i++
	}
}

// proven reports whether a node has delivered and is not unreliable.
func (rec *trackRecord) proven() bool { return rec != nil && rec.results > 0 && !rec.unreliable() }
