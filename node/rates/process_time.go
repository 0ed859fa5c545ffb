package rates

import "skep/grid"

// RanFor notes for how long, in seconds, the process ran of a run of which Ran was told that it took so many: its start
// and the collection of its output are not in that. 0 = it is not known for how long it ran.
func (e *Estimator) RanFor(level string, process, took float64) {
	if !(took > 0 && process > 0) {
		return
	}
	rest := 1 - min(process/took, 1)
	class, finer := grid.ClassOfLevel(level)
	e.Class(class).addOverhead(rest)
	if finer {
		e.Class(level).addOverhead(rest)
	}
}

func (c *Class) addOverhead(rest float64) {
	if c != nil && c.runs > 0 {
		c.overhead += (rest - c.overhead) / c.runs
	}
}

// processShare is the part of a run's time in which its process runs, by the runs here; 1 = there were none.
func (c *Class) processShare() float64 {
	if c == nil {
		return 1
	}
	return 1 - c.overhead
}

// ProcessTime is Expected for the time of the process alone, which is what a result says and a job's budget pays for.
// Execution rates, which it rests on without results, include starts and collections.
func (e *Estimator) ProcessTime(level string, stated StatedRates) float64 {
	seconds, byResults := e.expected(level, stated)
	if byResults {
		return seconds
	}
	c := e.Class(level)
	if c == nil || c.runs == 0 {
		class, _ := grid.ClassOfLevel(level)
		c = e.Class(class)
	}
	return seconds * c.processShare()
}
