package node

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"skep/grid"
)

// failureLog is how the tasks of each class ended at each node that this one gave some to: whether a node fails a class
// that others run. It rests on results alone, on nothing that anybody claims.
type failureLog struct {
	classes []*classFailures // by name
}

// classFailures is of one class.
type classFailures struct {
	class  string
	all    endTally
	nodes  []nodeFailures // by identity
	listed int            // of these, those that are or were avoided
}

// nodeFailures is of one class at one node.
type nodeFailures struct {
	node     grid.NodeID
	tally    endTally
	until    grid.Time // it is avoided; then one task tries it; 0 = it is like any other
	strikes  int32     // that it was avoided, lately
	probing  bool      // a task was sent to try it
	excluded bool      // it was avoided at the last look
}

// endTally counts ends, decayed.
type endTally struct {
	good, bad float64
	at        grid.Time
}

// Bounds of what is kept, and of how long is avoided.
const (
	maxFailureClasses = 64  // classes
	maxFailureNodes   = 256 // nodes of each
	minFailures       = 3   // failures from which on a node can be avoided
	failureSigma      = 3   // standard deviations beyond what failures elsewhere explain
	baseFailureRate   = 0.05
	minBackoff        = time.Minute
	maxBackoff        = time.Hour // and after that without a failure the next time is as short as the first
)

// decay lets what was counted fade, by half in the time in which results are forgiven.
func (t *endTally) decay(now grid.Time) {
	if d := now.Sub(t.at).Seconds(); d > 0 {
		w := math.Exp2(-d / recordHalfLife)
		t.good, t.bad, t.at = t.good*w, t.bad*w, now
	}
}

func (t *endTally) add(now grid.Time, good bool) {
	t.decay(now)
	if good {
		t.good++
	} else {
		t.bad++
	}
}

// rateElsewhere is the share of the class's tasks that fail at others; who has not been seen to fail is believed not to.
func (c *classFailures) rateElsewhere(now grid.Time, b *nodeFailures) float64 {
	all, own := c.all, b.tally // looking changes nothing, or a view would
	all.decay(now)
	own.decay(now)
	good, bad := max(all.good-own.good, 0), max(all.bad-own.bad, 0)
	return max(bad/(good+bad+1), baseFailureRate)
}

// failing reports whether a node fails so much that what happens elsewhere does not explain it.
func (c *classFailures) failing(now grid.Time, b *nodeFailures) bool {
	p, count := c.rateElsewhere(now, b), b.tally.good+b.tally.bad
	return b.tally.bad > minFailures-0.5 && b.tally.bad >= count/2 && b.tally.bad > count*p+failureSigma*math.Sqrt(count*p*(1-p))
}

func (s *failureLog) class(name string) *classFailures {
	if at, ok := s.find(name); ok {
		return s.classes[at]
	}
	return nil
}

func (s *failureLog) find(name string) (int, bool) {
	return slices.BinarySearchFunc(s.classes, name, func(c *classFailures, name string) int { return strings.Compare(c.class, name) })
}

// node returns what is known of a node, nil if nothing is.
func (c *classFailures) node(id grid.NodeID) *nodeFailures {
	if at, ok := c.search(id); ok {
		return &c.nodes[at]
	}
	return nil
}

func (c *classFailures) search(id grid.NodeID) (int, bool) {
	return slices.BinarySearchFunc(c.nodes, id, func(b nodeFailures, id grid.NodeID) int { return b.node.Compare(id) })
}

// record counts an end, and reports whether that changes who is avoided.
func (s *failureLog) record(now grid.Time, class string, id grid.NodeID, good bool) bool {
	at, ok := s.find(class)
	if !ok {
		if len(s.classes) >= maxFailureClasses {
			s.evict()
			at, _ = s.find(class)
		}
		s.classes = slices.Insert(s.classes, at, &classFailures{class: strings.Clone(class)})
	}
	c := s.classes[at]
	at, ok = c.search(id)
	if !ok {
		if len(c.nodes) >= maxFailureNodes {
			c.evict()
			at, _ = c.search(id)
		}
		c.nodes = slices.Insert(grid.Room(c.nodes, minGrowth), at, nodeFailures{node: id})
	}
	return c.record(now, &c.nodes[at], good)
}

// record counts an end and draws the consequence.
func (c *classFailures) record(now grid.Time, b *nodeFailures, good bool) bool {
	quiet := now.Sub(b.tally.at) >= maxBackoff
	c.all.add(now, good)
	b.tally.add(now, good)
	switch {
	case good && b.until > 0: // the task that tried it, or one that was there before
		c.listed--
		b.until, b.probing, b.tally.bad = 0, false, 0
		return true
	case good || b.until == 0 && !c.failing(now, b):
		return false
	case b.until == 0:
		if quiet {
			b.strikes = 0
		}
		c.listed++
	case now < b.until && !b.probing: // it had this one before
		return false
	}
	b.strikes++
	b.until, b.probing = now.Add(b.backoff()), false
	return true
}

// blacklisted reports whether the node is left out now: not where the class has come to fail elsewhere too.
func (c *classFailures) blacklisted(now grid.Time, b *nodeFailures) bool {
	return now < b.until && 2*c.rateElsewhere(now, b) < b.tally.bad/(b.tally.good+b.tally.bad)
}

// probe notes that a task was given to a node which was avoided: no other one is, until that has ended or as long as before
// has passed.
func (b *nodeFailures) probe(now grid.Time) {
	if b.until > 0 && now >= b.until {
		b.until, b.probing = now.Add(b.backoff()), true
	}
}

// backoff is how long the node is avoided now.
func (b *nodeFailures) backoff() time.Duration {
	return min(minBackoff<<min(b.strikes-1, 10), maxBackoff)
}

// evict makes room: the class of which nothing was heard for longest goes.
func (s *failureLog) evict() {
	out := 0
	for i, c := range s.classes {
		if c.all.at < s.classes[out].all.at {
			out = i
		}
	}
	s.classes = slices.Delete(s.classes, out, out+1)
}

func (c *classFailures) evict() {
	out := 0
	for i := range c.nodes {
		if c.nodes[i].tally.at < c.nodes[out].tally.at {
			out = i
		}
	}
	if c.nodes[out].until > 0 {
		c.listed--
	}
	c.nodes = slices.Delete(c.nodes, out, out+1)
}

// describe tells what a node is avoided for.
func (b *nodeFailures) describe() string {
	return fmt.Sprintf("%.0f of %.0f failed there", max(b.tally.bad, 1), max(b.tally.good+b.tally.bad, 1))
}
