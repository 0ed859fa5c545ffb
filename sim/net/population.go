package net

import (
	"math"
	"time"
)

// instants is the number of times in the last quarter at which tasks are counted.
const instants = 64

// population is the number of tasks in the grid over time. Tasks whose origins are down do not count: they wait for
// these, however idle the grid is.
type population struct {
	from, span  time.Duration // the window
	start, part time.Duration // the whole time of arrivals, whatever the warm-up

	thirds   [3]float64        // mean number in each third of the window
	quarters [4]float64        // mean number in each quarter of the time of arrivals
	deltas   [instants + 1]int // changes of the number at instants of the last quarter
}

func newPopulation(m *sample, s *Scenario) *population {
	return &population{from: m.from, span: (m.to - m.from) / 3, start: s.Start, part: max(m.to-s.Start, 0) / 4}
}

// add counts a task that was in the grid between two times.
func (c *population) add(away []absence, from, to time.Duration) {
	for x := range c.thirds {
		c.thirds[x] += presence(away, from, to, c.from+c.span*time.Duration(x), c.span)
	}
	for x := range c.quarters {
		c.quarters[x] += presence(away, from, to, c.start+c.part*time.Duration(x), c.part)
	}
	c.count(from, to, 1)
	for _, x := range away {
		c.count(max(from, x.from), min(to, x.to), -1)
	}
}

// presence returns the fraction of a span in which a task was in the grid and its origin up.
func presence(away []absence, from, to, begin, span time.Duration) float64 {
	left := overlap(from, to, begin, begin+span)
	for _, x := range away {
		left -= overlap(max(from, x.from), min(to, x.to), begin, begin+span)
	}
	return left.Seconds() / max(span.Seconds(), 1e-9)
}

func overlap(a, b, from, to time.Duration) time.Duration { return max(0, min(b, to)-max(a, from)) }

// count adds n to the number at the instants between two times.
func (c *population) count(from, to time.Duration, n int) {
	if a, b := c.instant(from), c.instant(to); a < b {
		c.deltas[a] += n
		c.deltas[b] -= n
	}
}

// instant returns the first instant that is not before a time.
func (c *population) instant(at time.Duration) int {
	begin := c.start + 3*c.part
	if at <= begin || c.part < instants {
		return 0
	}
	if at >= begin+c.part {
		return instants
	}
	step := c.part / instants
	return min(instants, int((at-begin+step-1)/step))
}

// minimum returns the least number at the instants.
func (c *population) minimum() int {
	least, n := math.MaxInt, 0
	for _, d := range c.deltas[:instants] {
		n += d
		least = min(least, n)
	}
	return least
}

// grows reports whether the number of tasks in the grid increased through the window, or through the last three
// quarters of the run, and never came down: then the other measurements mean nothing.
func (c *population) grows(s *Scenario) bool {
	least := float64(c.minimum())
	return grows(c.thirds, s) && least > c.thirds[0] || grows([3]float64(c.quarters[1:]), s) && least > c.quarters[1]
}

// grows reports whether numbers increase significantly, to more than twice what can run at once.
func grows(n [3]float64, s *Scenario) bool {
	cores := 0.0
	for i := range s.Groups {
		cores += float64(s.Groups[i].Count) * s.Groups[i].Cores
	}
	return n[0] < n[1] && n[1] < n[2] && n[2] > 1.5*n[0]+4*math.Sqrt(n[0]+1) && n[2] > 2*cores
}
