package node

import (
	"slices"

	"skep/grid"
)

// Expected run times: from the results that this node received, and from the rates that others claim.

// minEnds is the number of results from which on a class's run time counts as known.
const minEnds = 3

// recordEnd updates the class's mean run time and its variation with a successful result.
func (r *rates) recordEnd(name string, seconds float64) {
	if c := r.get(name); c != nil {
		if c.meanEnd > 0 {
			d := seconds/c.meanEnd - 1
			c.endSCVCount = min(c.endSCVCount+1, 1/scvWeight)
			c.endSCV += (min(d*d, maxDeviation) - c.endSCV) / c.endSCVCount
		}
		c.ends = min(c.ends+1, 1/meanWeight)
		c.meanEnd += (seconds - c.meanEnd) / c.ends
	}
}

// endVariation returns the squared coefficient of variation of the run times of this node's tasks of the class, on
// any worker; at least 1 while it rests on few results.
func (c *classRate) endVariation() float64 {
	if c.endSCVCount < minVariationEnds {
		return max(c.endSCV, 1)
	}
	return c.endSCV
}

// minVariationEnds is the number of results from which on the variation counts as known.
const minVariationEnds = 20

// median returns the median of μ/speed over the nodes that have measured the class: this node and the peers with a
// proven track record; if there are none, all peers; 0 if nobody has measured it.
func (n *Node) median(name string) float64 {
	for _, strict := range [...]bool{true, false} {
		xs := n.scratch.typical[:0]
		if mu := n.rates.givenRate(name); mu > 0 {
			xs = append(xs, mu/n.cfg.Speed)
		} else if c := n.rates.get(name); c != nil && c.runs > 0 {
			xs = append(xs, c.mu()/n.cfg.Speed)
		}
		seen := recordCursor(n.records)
		for _, q := range n.peers {
			if !q.up || strict && !seen.next(q.id).proven() {
				continue
			}
			for i := range q.rates {
				if q.rates[i].Class == name && q.rates[i].Mu > 0 {
					xs = append(xs, q.rates[i].Mu/q.speed)
				}
			}
		}
		n.scratch.typical = xs
		if len(xs) > 0 {
			slices.Sort(xs)
			return xs[(len(xs)-1)/2]
		}
	}
	return 0
}

// expected returns the expected run time of the class's tasks in seconds: the mean of this node's results if there
// are enough, else 1/typical; 0 if unknown.
func (c *classRate) expected(typical float64) float64 {
	switch {
	case c != nil && c.ends >= minEnds:
		return c.meanEnd
	case typical > 0:
		return 1 / typical
	}
	return 0
}

// expected returns the expected run time of a class in seconds; 0 if unknown.
func (n *Node) expected(class string) float64 {
	return n.rates.get(class).expected(n.rates.typical(class))
}

// minRunTime is the shortest time, in seconds, that a node without delivered results is believed to need for a task
// of the class: the estimate for this node, or for the reference machine if that is faster.
func (n *Node) minRunTime(class string) float64 {
	if len(n.cfg.Given) > 0 {
		return 0
	}
	return 1 / n.rates.guess(class, max(n.cfg.Speed, 1))
}

// completionTime returns the completion time to expect of a node, in seconds: what it claims, but not much
// less than its results took. expected is the class's expected run time, floor its minRunTime.
func (s *trackRecord) completionTime(now grid.Time, claimed, expected, floor float64) float64 {
	if s == nil || s.results == 0 {
		return max(claimed, floor)
	}
	return max(claimed, s.overrun*expected/overrunTolerance/(1+now.Sub(s.last).Seconds()/recordHalfLife))
}

// executionRate returns the trusted execution rate of a slot. Until the node has delivered, its claim is bounded by
// maxBoast times the typical rate; after that by its results.
func (s *trackRecord) executionRate(now grid.Time, mu, typical, expected float64) float64 {
	if s != nil && s.results > 0 {
		return 1 / s.completionTime(now, 1/mu, expected, 0)
	}
	if typical > 0 {
		return min(mu, maxBoast*typical)
	}
	return mu
}

// cores returns how many cores of a peer are trusted, by its track record.
func (n *Node) cores(m connectedPeer) grid.MilliCPU {
	cores := grid.MilliCPU(m.cores)
	switch s := m.record; {
	case len(n.cfg.Given) > 0:
	case s == nil || s.results == 0:
		return min(cores, probationCores*grid.CPU)
	case s.unreliable():
		return min(cores, grid.CPU)
	}
	return cores
}
