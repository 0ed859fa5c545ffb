package reputation

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"skep/grid"
)

// Blacklist is the failure log of one class: how its tasks ended at each node, and which of these get no more of them
// for now.
type Blacklist struct {
	log    *FailureLog
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

// rateElsewhere returns the failure rate of the class at all other nodes, at least baseFailureRate.
func (c *Blacklist) rateElsewhere(now grid.Time, f *nodeFailures) float64 {
	all, here := c.all, f.tally // copies: reading must not change the log
	all.decay(now)
	here.decay(now)
	good, bad := max(all.good-here.good, 0), max(all.bad-here.bad, 0)
	return max(bad/(good+bad+1), baseFailureRate)
}

// failing reports whether the node's failures are significantly more than the rate elsewhere explains.
func (c *Blacklist) failing(now grid.Time, f *nodeFailures) bool {
	p, count := c.rateElsewhere(now, f), f.tally.good+f.tally.bad
	return f.tally.bad > minFailures-0.5 && f.tally.bad >= count/2 &&
		f.tally.bad > count*p+failureSigma*math.Sqrt(count*p*(1-p))
}

// node returns the log of a node, nil if there is none.
func (c *Blacklist) node(id grid.NodeID) *nodeFailures {
	if at, ok := c.search(id); ok {
		return &c.nodes[at]
	}
	return nil
}

func (c *Blacklist) search(id grid.NodeID) (int, bool) {
	return slices.BinarySearchFunc(c.nodes, id, func(f nodeFailures, id grid.NodeID) int { return f.node.Compare(id) })
}

// record counts an end, updates the node's blacklisting, and reports whether that changed.
func (c *Blacklist) record(now grid.Time, f *nodeFailures, good bool) bool {
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
func (c *Blacklist) blacklisted(now grid.Time, f *nodeFailures) bool {
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

func (c *Blacklist) evict() {
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

// Excluded yields the nodes that were blacklisted when [Blacklist.Excludes] was last asked, with the reason. c may be
// nil.
func (c *Blacklist) Excluded() iter.Seq2[grid.NodeID, grid.Refusal] {
	return func(yield func(grid.NodeID, grid.Refusal) bool) {
		for i := 0; c != nil && i < len(c.nodes); i++ {
			if f := &c.nodes[i]; f.excluded && !yield(f.node, f.refusal()) {
				return
			}
		}
	}
}

// refusal returns the reason of the blacklisting.
func (f *nodeFailures) refusal() grid.Refusal {
	why := fmt.Sprintf("%.0f of %.0f failed there", max(f.tally.bad, 1), max(f.tally.good+f.tally.bad, 1))
	return grid.Refusal{Why: grid.WhyAvoided, Detail: why}
}
