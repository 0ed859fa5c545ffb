package rates

import (
	"math"

	"skep/grid"
)

// Levels of a class: see grid.LevelOf. Each run and each result counts for its finest level and for the class. What is
// expected of a task is the estimate of the finest level that rests on minLevelResults, drawn towards the class's by
// credibility [2]:
//
//	mean = Z·m + (1−Z)·M        Z = n/(n+k)        k = s²/a
//
// m, s² and n are the mean, the variance and the number of the level's results, M the mean of the class, and a the
// variance between levels: the mean of (m_i−M)² over the levels with enough results, less what chance adds to it, the
// mean of s_i²/n_i. The variance is that of a mixture with weights Z and 1−Z.

const (
	minLevelResults = 5   // results from which on a level has an estimate of its own
	maxLevels       = 16  // levels of one class: the one of least use is evicted
	maxAllLevels    = 128 // levels of all classes

	// knownFor is for how long a level with an estimate outlives one without that was used later.
	knownFor = grid.Time(10 * 60 * 1e9)

	// A class is told by its levels while the variance between them is more than splitShare of the whole, until it is
	// less than mergeShare.
	splitShare = 0.5
	mergeShare = 0.25
)

// sample is the mean run time of some results, its variance and their number, at most 1/meanWeight.
type sample struct{ n, mean, variance float64 }

// runsOf are the runs of a class here, in seconds at full speed; endsOf the results of this node's tasks on any worker.
func runsOf(c *Class) sample {
	if c == nil {
		return sample{}
	}
	return sample{c.runs, c.seconds, c.runSCV * c.seconds * c.seconds}
}

func endsOf(c *Class) sample {
	if c == nil {
		return sample{}
	}
	return sample{c.ends, c.meanEnd, c.endSCV * c.meanEnd * c.meanEnd}
}

func (s sample) scv() float64 {
	if s.mean == 0 {
		return 0
	}
	return s.variance / (s.mean * s.mean)
}

// estimate returns what is expected of a level with minLevelResults, or of a class without one.
func (e *Estimator) estimate(name string, of func(*Class) sample) sample {
	class, finer := grid.ClassOfLevel(name)
	own := of(e.Class(name))
	if !finer {
		return own
	}
	all := of(e.Class(class))
	if all.n == 0 {
		return own
	}
	between, _ := e.spread(class, all.mean, of)
	z := 1.0
	if chance := own.variance / own.n; between+chance > 0 {
		z = between / (between + chance)
	}
	d := own.mean - all.mean
	return sample{own.n, z*own.mean + (1-z)*all.mean, z*own.variance + (1-z)*all.variance + z*(1-z)*d*d}
}

// spread returns the variance between the levels of a class, and the mean of those within them.
func (e *Estimator) spread(class string, mean float64, of func(*Class) sample) (between, within float64) {
	known := 0.0
	for _, c := range e.levels(class) {
		if s := of(c); s.n >= minLevelResults {
			d := s.mean - mean
			between += d*d - s.variance/s.n
			within += s.variance
			known++
		}
	}
	if known == 0 {
		return 0, 0
	}
	return max(between/known, 0), within / known
}

// levels are the levels of a class: they stand together in the order of names.
func (e *Estimator) levels(class string) []*Class {
	first, _ := e.find(class + grid.LevelMark)
	end := first
	for ; end < len(e.classes); end++ {
		if of, finer := grid.ClassOfLevel(e.classes[end].name); !finer || of != class {
			break
		}
	}
	return e.classes[first:end]
}

// makeRoomFor evicts levels, so that one more of a class has room: they never evict a class.
func (e *Estimator) makeRoomFor(class string) {
	of, all := 0, 0
	for _, c := range e.classes {
		if parent, finer := grid.ClassOfLevel(c.name); finer {
			all++
			if parent == class {
				of++
			}
		}
	}
	switch {
	case of >= maxLevels:
		e.evict(func(c *Class) bool { parent, finer := grid.ClassOfLevel(c.name); return finer && parent == class })
	case all >= maxAllLevels:
		e.evict(func(c *Class) bool { _, finer := grid.ClassOfLevel(c.name); return finer })
	}
}

// LevelRate is the typical execution rate of a finer level alone on a slot of speed 1, tasks per second: as measured
// here, told by others, or by the results of this node's tasks; 0 = none rests on enough results. It is asked for each
// task that is placed or waits, so what is measured and told is looked up once after the rows were set or the rates
// were published.
func (e *Estimator) LevelRate(level string, stated StatedRates) float64 {
	if e.given {
		return 0
	}
	mu, looked := e.levelRates[level]
	if !looked {
		if mu = e.median(level, stated); e.levelRates == nil {
			e.levelRates = map[string]float64{}
		} else if len(e.levelRates) >= maxClasses {
			clear(e.levelRates)
		}
		e.levelRates[e.Intern(level)] = mu
	}
	if mu > 0 {
		return mu
	}
	if s := endsOf(e.Class(level)); s.n >= minLevelResults && s.mean > 0 {
		return 1 / e.estimate(level, endsOf).mean
	}
	return 0
}

// Measured returns what was measured of the finest level that has an estimate, for results; nil if there is none.
func (e *Estimator) Measured(level string) *Class {
	c := e.Class(level)
	if class, finer := grid.ClassOfLevel(level); finer && (c == nil || c.ends < minLevelResults) {
		return e.Class(class)
	}
	return c
}

// RunsOf is the number of runs here on which the estimate for a level rests; 0 if it does not rest on any.
func (e *Estimator) RunsOf(level string) int32 {
	n := e.Class(level).Runs()
	if class, finer := grid.ClassOfLevel(level); finer && n < minLevelResults {
		return e.Class(class).Runs()
	}
	return n
}

// lastUse orders classes for eviction.
func (c *Class) lastUse() grid.Time {
	if c.knownLevel() {
		return c.used + knownFor
	}
	return c.used
}

// knownLevel reports whether it is a finer level with an estimate of its own.
func (c *Class) knownLevel() bool {
	_, finer := grid.ClassOfLevel(c.name)
	return finer && max(c.runs, c.ends) >= minLevelResults
}

// isSplit reports whether a class is told by its levels.
func (c *Class) isSplit() bool { return c != nil && c.split }

// Told returns the level of a task's class that this node tells others, and by which its tasks are allocated: the
// coarsest that explains the spread of run times.
func (e *Estimator) Told(level string) string {
	class, finer := grid.ClassOfLevel(level)
	if !finer {
		return level
	}
	for i := range e.own {
		if e.own[i].Class == level {
			return level
		}
	}
	return class
}

// updateSplit decides whether a class is told by its levels: where more of the variance of run times lies between them
// than within, and is more than a change of a rate that is published.
func (e *Estimator) updateSplit(c *Class) {
	of := endsOf
	if c.ends < minLevelResults {
		of = runsOf
	}
	mean := of(c).mean
	between, within := e.spread(c.name, mean, of)
	share := splitShare
	if c.split {
		share = mergeShare
	}
	c.split = between > share*(between+within) && math.Sqrt(between) > publishThreshold*mean
}
