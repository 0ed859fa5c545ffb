package rates

import "skep/grid"

// Run times of this node's tasks on any worker, from their results.

const (
	minEnds          = 3  // results from which on a class's run time counts as known
	minVariationEnds = 20 // results from which on its variation counts as known
	grownFactor      = 4  // times the mean that a result is far longer
)

// streak is the last results, if all of them were far longer than the mean.
type streak struct {
	n    int32
	mean float64
}

func (s *streak) add(seconds float64) {
	s.n++
	s.mean += (seconds - s.mean) / float64(s.n)
}

// Ended updates the mean run time of a level of a class, and its variation, with a successful result, in seconds. It
// reports whether the mean of the class or level has become known or has jumped.
func (e *Estimator) Ended(level string, seconds float64) (changed bool) {
	class, finer := grid.ClassOfLevel(level)
	changed = e.ended(class, seconds)
	if finer {
		changed = e.ended(level, seconds) || changed
	}
	return changed
}

// ended takes a result into the mean of a class or level. If a few in a row took far longer than the mean, the tasks
// are others than before: the mean is of these alone then. It reports whether that is so, or the mean is known from now
// on.
func (e *Estimator) ended(name string, seconds float64) (changed bool) {
	c := e.Class(name)
	if c == nil {
		return false
	}
	if seconds <= grownFactor*c.meanEnd || !c.Known() {
		c.longer = streak{}
	} else if c.longer.add(seconds); c.longer.n == minEnds {
		c.meanEnd, c.ends, c.longer = c.longer.mean, minEnds, streak{}
		return true
	}
	if c.meanEnd > 0 {
		d := seconds/c.meanEnd - 1
		c.endSCVCount = min(c.endSCVCount+1, 1/scvWeight)
		c.endSCV += (min(d*d, maxDeviation) - c.endSCV) / c.endSCVCount
	}
	c.ends = min(c.ends+1, 1/meanWeight)
	c.meanEnd += (seconds - c.meanEnd) / c.ends
	return c.ends == minEnds
}

// Known reports whether the class's run time is known from enough results.
func (c *Class) Known() bool { return c != nil && c.ends >= minEnds }

// EndVariation returns the squared coefficient of variation of the run times of this node's tasks of the class, on
// any worker; at least 1 while it rests on few results.
func (c *Class) EndVariation() float64 {
	switch {
	case c == nil:
		return 1
	case c.endSCVCount < minVariationEnds:
		return max(c.endSCV, 1)
	}
	return c.endSCV
}

// Expected returns the expected run time of the class's tasks on any worker in seconds: the mean of this node's results
// if there are enough, else 1/typical; 0 if unknown.
func (c *Class) Expected(typical float64) float64 {
	switch {
	case c.Known():
		return c.meanEnd
	case typical > 0:
		return 1 / typical
	}
	return 0
}

// Expected is Class.Expected for the finest level that has an estimate.
func (e *Estimator) Expected(level string, stated StatedRates) float64 {
	seconds, _ := e.expected(level, stated)
	return seconds
}

// expected is Expected; byResults reports that it is the mean of results.
func (e *Estimator) expected(level string, stated StatedRates) (seconds float64, byResults bool) {
	class, finer := grid.ClassOfLevel(level)
	if finer && !e.given {
		if endsOf(e.Class(level)).n >= minLevelResults {
			return e.estimate(level, endsOf).mean, true
		}
		if mu := e.LevelRate(level, stated); mu > 0 {
			return 1 / mu, false
		}
	}
	c := e.Class(class)
	return c.Expected(e.Typical(class, stated)), c.Known()
}

// MinRunTime is the shortest time, in seconds, that a node without delivered results is believed to need for a task of
// the class: the estimate for this node, or for the reference machine if that is faster. 0 if rates are given.
func (e *Estimator) MinRunTime(class string, stated StatedRates) float64 {
	if e.given {
		return 0
	}
	return 1 / e.Rate(class, max(e.speed, 1), stated)
}
