package node

import (
	"slices"

	"skep/grid"
)

// trackRecord is what this node has itself seen of another that it gives work to: what it has out there, and how
// what came of it compares with what was promised. It rests on no claim: who says that it is fast and idle gets
// little until it has delivered, and what it delivered replaces what it says.
type trackRecord struct {
	node         grid.NodeID
	due          []grid.Time // when each attempt that it has becomes late, in order; grid.Never where nobody can tell
	onTime       int8        // results on time, halved by each that was late: so many late ones are borne at once
	results      int8        // results, up to enough
	dated        int8        // of these, those of classes whose usual run time was known
	holds        int8        // times that it was found not to end what it has, less the results since
	overrun      float64     // decayed mean of what it took over what was promised, or usual if that is more
	backoffUntil grid.Time   // it gets nothing before; then one attempt at a time tries it
	last         grid.Time   // of the last result
	ends         endTally    // attempts that brought a result, and that were lost
}

// Bounds of what is kept and believed.
const (
	maxRecords       = 1024
	lateFactor       = 4              // times the promise, or the usual run time, until an attempt is late
	lateSlack        = grid.Time(1e9) // beyond that
	maxTrust         = 16             // the most late attempts that are borne, and results that count
	probationPerCore = 4              // attempts for each core it says it has that a node gets before its first result
	minProbation     = 8              // attempts that any node gets
	probationCores   = 64             // cores that are believed before the first result
	maxBoast         = 8              // times the usual rate that is believed before the first result
	overrunWeight    = 0.25           // weight of a result in off
	overrunTolerance = 2              // a node is believed to be that many times as soon as its results were
	overrunLimit     = 3              // from which a node's word is not taken
	recordHalfLife   = 300.0          // seconds after which what results took counts half, until the next
)

// recordOf returns what is known of a node, nil if it was never given anything.
func (n *Node) recordOf(id grid.NodeID) *trackRecord {
	if at, ok := n.findRecord(id); ok {
		return n.records[at]
	}
	return nil
}

func (n *Node) findRecord(id grid.NodeID) (int, bool) {
	return slices.BinarySearchFunc(n.records, id, func(s *trackRecord, id grid.NodeID) int { return s.node.Compare(id) })
}

// recordCursor are standings that are left, for who asks in the order of identities.
type recordCursor []*trackRecord

// next returns what is known of a node, nil if it was never given anything.
func (s *recordCursor) next(id grid.NodeID) *trackRecord {
	for ; len(*s) > 0; *s = (*s)[1:] {
		if c := (*s)[0].node.Compare(id); c == 0 {
			return (*s)[0]
		} else if c > 0 {
			break
		}
	}
	return nil
}

// givenAttempt notes that a node was given an attempt, and by when it should have ended. Of a class of which this
// node has never seen an end nobody can say what is late.
func (n *Node) givenAttempt(now grid.Time, x *promise, class string, id grid.NodeID, ect float64) {
	if len(n.cfg.Given) > 0 { // then all is known beforehand
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
	s := n.records[at]
	x.expected, x.lateAt = 0, grid.Never
	if usual := n.expected(class); usual > 0 {
		x.expected = max(ect, usual)
		x.lateAt = now.Add(grid.Seconds(lateFactor*max(ect, usual))) + lateSlack
	}
	s.addDue(x.lateAt)
}

// addDue notes that an attempt is due, undue that it is not any more.
func (s *trackRecord) addDue(t grid.Time) {
	at, _ := slices.BinarySearch(s.due, t)
	s.due = slices.Insert(s.due, at, t)
}

func (s *trackRecord) removeDue(t grid.Time) {
	if at, ok := slices.BinarySearch(s.due, t); ok {
		s.due = slices.Delete(s.due, at, at+1)
	}
}

// lateCount is how many attempts it has that should have ended.
func (s *trackRecord) lateCount(now grid.Time) int {
	n, _ := slices.BinarySearch(s.due, now+1)
	return n
}

// evictRecord makes room: the one without work that was heard of longest ago goes, else the first.
func (n *Node) evictRecord() {
	out := 0
	for i, s := range n.records {
		if o := n.records[out]; len(s.due) == 0 && (len(o.due) > 0 || s.last < o.last) {
			out = i
		}
	}
	n.records = slices.Delete(n.records, out, out+1)
}

// attemptReturned takes an attempt off those that its node has, before anything else about it changes. delivered says
// that it brought a result.
func (n *Node) attemptReturned(now grid.Time, x *promise, worker grid.NodeID, delivered bool) {
	if x.lateAt == 0 {
		return
	}
	due := x.lateAt
	x.lateAt = 0
	s := n.recordOf(worker)
	if s == nil {
		return
	}
	s.removeDue(due)
	if delivered {
		s.recordResult(now, x.expected, max(now.Sub(x.madeAt).Seconds(), 0), now > due)
		n.rates.stale = n.rates.stale || s.results == 1 || s.unreliable()
	}
	n.resumeAwaitingProof()
}

// attemptLost holds an attempt that was lost against its node.
func (s *trackRecord) attemptLost(now grid.Time) {
	s.onTime /= 2
	s.ends.add(now, false)
}

// recordResult takes a result: what was promised and what it took, in seconds.
func (s *trackRecord) recordResult(now grid.Time, promise, took float64, late bool) {
	s.ends.add(now, true)
	if late {
		s.onTime /= 2
	} else {
		s.onTime = min(s.onTime+1, maxTrust)
	}
	s.results, s.holds, s.last = min(s.results+1, maxTrust), max(s.holds-1, 0), now
	if promise > 0 {
		s.dated = min(s.dated+1, maxTrust)
		s.overrun += max(overrunWeight, 1/float64(s.dated)) * (took/promise - s.overrun)
	}
}

// unreliable reports whether the node needs far longer than it says.
func (s *trackRecord) unreliable() bool { return s.overrun > overrunLimit }

// onProbation reports whether a node gets nothing more for now: too much of what it has is late, or it has as much as
// a node can get before its first result.
func (s *trackRecord) onProbation(now grid.Time, cores grid.MilliCPU) bool {
	if s == nil {
		return false
	}
	if s.lateCount(now) > int(s.onTime) || s.holds > 0 && len(s.due) > 0 {
		return true
	}
	first := max(minProbation, probationPerCore*int(min(cores, probationCores*grid.CPU)/grid.CPU))
	return s.results < maxTrust && len(s.due) >= first<<s.results
}

// maxRetriesPerProof bounds the waiting tasks that look again when something was delivered here or elsewhere.
const maxRetriesPerProof = 4

// resumeAwaitingProof lets some of the tasks go on that wait for somebody to deliver.
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

// proven reports whether a node has delivered and its word was about right.
func (s *trackRecord) proven() bool { return s != nil && s.results > 0 && !s.unreliable() }
