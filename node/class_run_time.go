package node

import (
	"slices"

	"skep/grid"
)

// What this node knows of a class from results that came to it, whoever brought them, and what it makes of
// the rates that others claim.

// minEnds is how many results it takes until a class's run time is known.
const minEnds = 3

// recordEnd teaches it.
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

// endVariation is the squared coefficient of variation of the run times of this node's tasks of the class, wherever they ran; at least 1
// as long as few have shown it.
func (c *classRate) endVariation() float64 {
	if c.endSCVCount < minVariationEnds {
		return max(c.endSCV, 1)
	}
	return c.endSCV
}

// minVariationEnds is how many results it takes until the spread of a class is known.
const minVariationEnds = 20

// median is the median of μ/speed over those who have measured the class: this node, and peers that have
// delivered what they promised; where there are none of these, all. 0 where nobody has.
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

// expected is the run time to expect of the class's tasks, seconds: what they took, as far as this node has seen
// some end, else what those say who have run it; 0 where nobody has.
func (c *classRate) expected(typical float64) float64 {
	switch {
	case c != nil && c.ends >= minEnds:
		return c.meanEnd
	case typical > 0:
		return 1 / typical
	}
	return 0
}

// expected is that of a class by its name.
func (n *Node) expected(class string) float64 {
	return n.rates.get(class).expected(n.rates.typical(class))
}

// minRunTime is the least time in which a node that has delivered nothing yet is believed to end a task of a class,
// seconds: that of this node, or of the reference machine if that is faster.
func (n *Node) minRunTime(class string) float64 {
	if len(n.cfg.Given) > 0 {
		return 0
	}
	return 1 / n.rates.guess(class, max(n.cfg.Speed, 1))
}

// completionTime is the completion time to expect of a node that says it is that, seconds: not much less than its
// results took, however soon it says. usual and floor are of the task's class.
func (s *trackRecord) completionTime(now grid.Time, said, usual, floor float64) float64 {
	if s == nil || s.results == 0 {
		return max(said, floor)
	}
	return max(said, s.overrun*usual/overrunTolerance/(1+now.Sub(s.last).Seconds()/recordHalfLife))
}

// executionRate is the execution rate of a slot as far as it is believed: a claim is bounded by what is typical of the class until the
// node has delivered, and then by what its results took.
func (s *trackRecord) executionRate(now grid.Time, mu, typical, usual float64) float64 {
	if s != nil && s.results > 0 {
		return 1 / s.completionTime(now, 1/mu, usual, 0)
	}
	if typical > 0 {
		return min(mu, maxBoast*typical)
	}
	return mu
}

// cores is how many cores of a peer are believed in, in the same way.
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
