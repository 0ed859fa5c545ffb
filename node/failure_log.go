package node

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"skep/grid"
)

// failureLog counts how tasks of each class ended at each node, to find nodes that fail a class which other nodes
// run. It rests on results alone, not on claims.
type failureLog struct {
	classes []*classFailures // ordered by name
}

// classFailures is the failure log of one class.
type classFailures struct {
	class  string
	all    endTally
	nodes  []nodeFailures // ordered by identity
	listed int            // number of nodes with until > 0
}

// nodeFailures is the failure log of one class at one node.
type nodeFailures struct {
	node     grid.NodeID
	tally    endTally
	until    grid.Time // blacklisted until then, next a probe; 0 = not listed
	strikes  int32     // blacklistings in a row: exponent of the back-off
	probing  bool      // a task was sent as a probe
	excluded bool      // blacklisted at the last check
}

// endTally counts ends, with exponential decay.
type endTally struct {
	good, bad float64
	at        grid.Time
}

// Bounds of the failure log, and of the back-off.
const (
	maxFailureClasses = 64  // classes kept
	maxFailureNodes   = 256 // nodes kept per class
	minFailures       = 3   // fewer failures never blacklist a node
	failureSigma      = 3   // standard deviations above the failures expected from other nodes
	baseFailureRate   = 0.05
	minBackoff        = time.Minute
	maxBackoff        = time.Hour // after this time without an end there the back-off starts from minBackoff again
)

// decay applies the decay since the last count; the half-life is recordHalfLife.
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

// rateElsewhere returns the failure rate of the class at all other nodes, at least baseFailureRate.
func (c *classFailures) rateElsewhere(now grid.Time, f *nodeFailures) float64 {
	all, here := c.all, f.tally // copies: reading must not change the log
	all.decay(now)
	here.decay(now)
	good, bad := max(all.good-here.good, 0), max(all.bad-here.bad, 0)
	return max(bad/(good+bad+1), baseFailureRate)
}

// failing reports whether the node's failures are significantly more than the rate elsewhere explains.
func (c *classFailures) failing(now grid.Time, f *nodeFailures) bool {
	p, count := c.rateElsewhere(now, f), f.tally.good+f.tally.bad
	return f.tally.bad > minFailures-0.5 && f.tally.bad >= count/2 && f.tally.bad > count*p+failureSigma*math.Sqrt(count*p*(1-p))
}

func (l *failureLog) class(name string) *classFailures {
	if at, ok := l.find(name); ok {
		return l.classes[at]
	}
	return nil
}

func (l *failureLog) find(name string) (int, bool) {
	return slices.BinarySearchFunc(l.classes, name, func(c *classFailures, name string) int { return strings.Compare(c.class, name) })
}

// node returns the log of a node, nil if there is none.
func (c *classFailures) node(id grid.NodeID) *nodeFailures {
	if at, ok := c.search(id); ok {
		return &c.nodes[at]
	}
	return nil
}

func (c *classFailures) search(id grid.NodeID) (int, bool) {
	return slices.BinarySearchFunc(c.nodes, id, func(f nodeFailures, id grid.NodeID) int { return f.node.Compare(id) })
}

// record counts an end and reports whether the blacklist changed.
func (l *failureLog) record(now grid.Time, class string, id grid.NodeID, good bool) bool {
	at, ok := l.find(class)
	if !ok {
		if len(l.classes) >= maxFailureClasses {
			l.evict()
			at, _ = l.find(class)
		}
		l.classes = slices.Insert(l.classes, at, &classFailures{class: strings.Clone(class)})
	}
	c := l.classes[at]
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

// record counts an end and updates the node's blacklisting.
func (c *classFailures) record(now grid.Time, f *nodeFailures, good bool) bool {
	quiet := now.Sub(f.tally.at) >= maxBackoff
	c.all.add(now, good)
	f.tally.add(now, good)
	switch {
	case good && f.until > 0: // the probe's success, or that of an earlier task
		c.listed--
		f.until, f.probing, f.tally.bad = 0, false, 0
		return true
	case good || f.until == 0 && !c.failing(now, f):
		return false
	case f.until == 0:
		if quiet {
			f.strikes = 0
		}
		c.listed++
	case now < f.until && !f.probing: // the task was placed before the blacklisting
		return false
	}
	f.strikes++
	f.until, f.probing = now.Add(f.backoff()), false
	return true
}

// blacklisted reports whether the node is blacklisted now. It is not if the class has come to fail elsewhere at half
// its rate.
func (c *classFailures) blacklisted(now grid.Time, f *nodeFailures) bool {
	return now < f.until && 2*c.rateElsewhere(now, f) < f.tally.bad/(f.tally.good+f.tally.bad)
}

// probe records that a listed node got a task. It gets no other one until that task has ended or the back-off has
// passed again.
func (f *nodeFailures) probe(now grid.Time) {
	if f.until > 0 && now >= f.until {
		f.until, f.probing = now.Add(f.backoff()), true
	}
}

// backoff returns the current back-off: minBackoff, doubled with each strike, at most maxBackoff.
func (f *nodeFailures) backoff() time.Duration {
	return min(minBackoff<<min(f.strikes-1, 10), maxBackoff)
}

// evict removes the class without an end for longest.
func (l *failureLog) evict() {
	oldest := 0
	for i, c := range l.classes {
		if c.all.at < l.classes[oldest].all.at {
			oldest = i
		}
	}
	l.classes = slices.Delete(l.classes, oldest, oldest+1)
}

func (c *classFailures) evict() {
	oldest := 0
	for i := range c.nodes {
		if c.nodes[i].tally.at < c.nodes[oldest].tally.at {
			oldest = i
		}
	}
	if c.nodes[oldest].until > 0 {
		c.listed--
	}
	c.nodes = slices.Delete(c.nodes, oldest, oldest+1)
}

// describe returns the reason of the blacklisting.
func (f *nodeFailures) describe() string {
	return fmt.Sprintf("%.0f of %.0f failed there", max(f.tally.bad, 1), max(f.tally.good+f.tally.bad, 1))
}
