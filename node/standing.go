package node

import (
	"slices"

	"skep/grid"
)

// standing is what this node has itself seen of another that it gives work to: what it has out there, and how
// what came of it compares with what was promised. It rests on no claim: who says that it is fast and idle gets
// little until it has delivered, and what it delivered replaces what it says.
type standing struct {
	node  grid.NodeID
	due   []grid.Time // when each attempt that it has becomes late, in order; grid.Never where nobody can tell
	kept  int8        // results on time, halved by each that was late: so many late ones are borne at once
	seen  int8        // results, up to enough
	told  int8        // of these, those of classes whose usual run time was known
	held  int8        // times that it was found not to end what it has, less the results since
	off   float64     // decayed mean of what it took over what was promised, or usual if that is more
	until grid.Time   // it gets nothing before; then one attempt at a time tries it
	last  grid.Time   // of the last result
	ends  tally       // attempts that brought a result, and that were lost
}

// Bounds of what is kept and believed.
const (
	keepStandings = 1024
	patience      = 4              // times the promise, or the usual run time, until an attempt is late
	slack         = grid.Time(1e9) // beyond that
	trusted       = 16             // the most late attempts that are borne, and results that count
	firstEach     = 4              // attempts for each core it says it has that a node gets before its first result
	firstLeast    = 8              // attempts that any node gets
	firstCores    = 64             // cores that are believed before the first result
	boast         = 8              // times the usual rate that is believed before the first result
	learn         = 0.25           // weight of a result in off
	doubted       = 2              // a node is believed to be that many times as soon as its results were
	farOff        = 3              // from which a node's word is not taken
	forgiven      = 300.0          // seconds after which what results took counts half, until the next
)

// standing returns what is known of a node, nil if it was never given anything.
func (n *Node) standing(id grid.NodeID) *standing {
	if at, ok := n.findStanding(id); ok {
		return n.standings[at]
	}
	return nil
}

func (n *Node) findStanding(id grid.NodeID) (int, bool) {
	return slices.BinarySearchFunc(n.standings, id, func(s *standing, id grid.NodeID) int { return s.node.Compare(id) })
}

// inOrder are standings that are left, for who asks in the order of identities.
type inOrder []*standing

// next returns what is known of a node, nil if it was never given anything.
func (s *inOrder) next(id grid.NodeID) *standing {
	for ; len(*s) > 0; *s = (*s)[1:] {
		if c := (*s)[0].node.Compare(id); c == 0 {
			return (*s)[0]
		} else if c > 0 {
			break
		}
	}
	return nil
}

// entrusted notes that a node was given an attempt, and by when it should have ended. Of a class of which this
// node has never seen an end nobody can say what is late.
func (n *Node) entrusted(now grid.Time, x *word, class string, id grid.NodeID, ect float64) {
	if len(n.cfg.Given) > 0 { // then all is known beforehand
		return
	}
	at, ok := n.findStanding(id)
	if !ok {
		if len(n.standings) >= keepStandings {
			n.forgetStanding()
			at, _ = n.findStanding(id)
		}
		n.standings = slices.Insert(n.standings, at, &standing{node: id})
	}
	s := n.standings[at]
	x.promise, x.late = 0, grid.Never
	if usual := n.expected(class); usual > 0 {
		x.promise = max(ect, usual)
		x.late = now.Add(grid.Seconds(patience*max(ect, usual))) + slack
	}
	s.dueAt(x.late)
}

// dueAt notes that an attempt is due, undue that it is not any more.
func (s *standing) dueAt(t grid.Time) {
	at, _ := slices.BinarySearch(s.due, t)
	s.due = slices.Insert(s.due, at, t)
}

func (s *standing) undue(t grid.Time) {
	if at, ok := slices.BinarySearch(s.due, t); ok {
		s.due = slices.Delete(s.due, at, at+1)
	}
}

// late is how many attempts it has that should have ended.
func (s *standing) late(now grid.Time) int {
	n, _ := slices.BinarySearch(s.due, now+1)
	return n
}

// forgetStanding makes room: the one without work that was heard of longest ago goes, else the first.
func (n *Node) forgetStanding() {
	out := 0
	for i, s := range n.standings {
		if o := n.standings[out]; len(s.due) == 0 && (len(o.due) > 0 || s.last < o.last) {
			out = i
		}
	}
	n.standings = slices.Delete(n.standings, out, out+1)
}

// returned takes an attempt off those that its node has, before anything else about it changes. delivered says
// that it brought a result.
func (n *Node) returned(now grid.Time, x *word, worker grid.NodeID, delivered bool) {
	if x.late == 0 {
		return
	}
	due := x.late
	x.late = 0
	s := n.standing(worker)
	if s == nil {
		return
	}
	s.undue(due)
	if delivered {
		s.learn(now, x.promise, max(now.Sub(x.chosen).Seconds(), 0), now > due)
		n.rates.stale = n.rates.stale || s.seen == 1 || s.boasts()
	}
	n.encourage()
}

// lost holds an attempt that was lost against its node.
func (s *standing) lost(now grid.Time) {
	s.kept /= 2
	s.ends.add(now, false)
}

// learn takes a result: what was promised and what it took, in seconds.
func (s *standing) learn(now grid.Time, promise, took float64, late bool) {
	s.ends.add(now, true)
	if late {
		s.kept /= 2
	} else {
		s.kept = min(s.kept+1, trusted)
	}
	s.seen, s.held, s.last = min(s.seen+1, trusted), max(s.held-1, 0), now
	if promise > 0 {
		s.told = min(s.told+1, trusted)
		s.off += max(learn, 1/float64(s.told)) * (took/promise - s.off)
	}
}

// boasts reports whether the node needs far longer than it says.
func (s *standing) boasts() bool { return s.off > farOff }

// withheld reports whether a node gets nothing more for now: too much of what it has is late, or it has as much as
// a node can get before its first result.
func (s *standing) withheld(now grid.Time, cores grid.MilliCPU) bool {
	if s == nil {
		return false
	}
	if s.late(now) > int(s.kept) || s.held > 0 && len(s.due) > 0 {
		return true
	}
	first := max(firstLeast, firstEach*int(min(cores, firstCores*grid.CPU)/grid.CPU))
	return s.seen < trusted && len(s.due) >= first<<s.seen
}

// mayProve bounds the waiting tasks that look again when something was delivered here or elsewhere.
const mayProve = 4

// encourage lets some of the tasks go on that wait for somebody to deliver.
func (n *Node) encourage() {
	left := min(mayProve, n.unproven)
	for i := 0; i < len(n.waiting) && left > 0; {
		if l := n.waiting[i]; l.unproven {
			l.looks = true
			n.unwait(l)
			left--
			continue
		}
		i++
	}
}

// proven reports whether a node has delivered and its word was about right.
func (s *standing) proven() bool { return s != nil && s.seen > 0 && !s.boasts() }
