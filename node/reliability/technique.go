package reliability

import (
	"skep/balance/utility"
	"skep/grid"
)

// Run is what is expected of a run at a node.
type Run struct {
	Seconds float64 // from now until it would be done, or from its start where it follows another
	Risk    float64 // probability that it is lost within that time
}

// Task is what a result is worth, and what is known of a run that follows a lost one.
type Task struct {
	Value  float64                       // of a result in time: bid × seconds of the reference
	Worth  func(seconds float64) float64 // share of Value of a result that comes so much later; does not rise
	Notice float64                       // seconds from a loss until another run begins
	Again  *Run                          // a run that follows a lost one; nil = there may be none
}

// course is one of the ways in which a technique may go.
type course struct {
	chance float64
	value  float64
	cost   float64 // node-seconds
	delay  float64 // seconds until the result
}

// slices of a run in which it may be lost, all with the same probability.
const slices = 8

// courses appends those of a task whose present run is given. copied is what a copy would be like.
func (t *Task) courses(q utility.Technique, run Run, copied *Run, dst []course) []course {
	f, l := run.Risk, run.Seconds
	dst = append(dst, course{1 - f, t.Value * t.Worth(l), l, l})
	switch {
	case q == utility.Replicate && copied != nil:
		first := min(l, copied.Seconds)
		g := copied.Risk
		return append(dst[:len(dst)-1],
			course{(1 - f) * (1 - g), t.Value * t.Worth(first), 2 * first, first},
			course{(1 - f) * g, t.Value * t.Worth(l), l + min(l, copied.Seconds/2), l},
			course{f * (1 - g), t.Value * t.Worth(copied.Seconds), min(l/2, copied.Seconds) + copied.Seconds, copied.Seconds},
			course{f * g, 0, (l + copied.Seconds) / 2, max(l, copied.Seconds)})
	case q == utility.Retry && t.Again != nil:
		worth, begun := 0.0, 0.0
		for k := range slices {
			lost := l * (float64(k) + 0.5) / slices
			if w := t.Worth(lost + t.Notice + t.Again.Seconds); w > 0 {
				worth, begun = worth+w/slices, begun+1.0/slices
			}
		}
		if begun > 0 {
			g, done := t.Again.Risk, l/2+t.Notice+t.Again.Seconds
			dst = append(dst, course{f * begun * (1 - g), t.Value * worth / begun, l/2 + t.Again.Seconds, done},
				course{f * begun * g, 0, l/2 + t.Again.Seconds/2, done})
		}
		return append(dst, course{f * (1 - begun), 0, l / 2, l})
	}
	return append(dst, course{f, 0, l / 2, l})
}

// of makes one number of a course.
func of(h grid.Reliability, c *course) float64 {
	switch h {
	case grid.ReliabilityValue:
		return c.value
	case grid.ReliabilityValuePerCost:
		return c.value / max(c.cost, least)
	case grid.ReliabilityValuePerTime:
		return c.value / max(c.delay, least)
	}
	return c.value - c.cost
}

// least is what counts instead of no time at all, in seconds.
const least = 1e-3

// Choice is a technique, and what a copy would do.
type Choice struct {
	Technique utility.Technique
	Success   float64 // probability that there is a result
	Risk      float64 // probability that the present run is lost
	Saves     float64 // value that a copy adds to what there is without one
	Takes     float64 // node-seconds that it adds
}

// Choose returns the technique for a task that runs. A lost run is always followed by another that may be in time, so
// the choice is whether a copy is run now. copied is what it would be like; nil = there can be none.
func (t *Task) Choose(h grid.Reliability, run Run, copied *Run) Choice {
	x := Choice{Risk: run.Risk}
	if t.Again != nil && t.Worth(t.Notice+t.Again.Seconds) > 0 {
		x.Technique = utility.Retry
	}
	if copied != nil {
		without, with := x.Technique, utility.Replicate
		value := func(c *course) float64 { return c.value }
		cost := func(c *course) float64 { return c.cost }
		x.Saves = t.mean(with, run, copied, value) - t.mean(without, run, nil, value)
		x.Takes = t.mean(with, run, copied, cost) - t.mean(without, run, nil, cost)
		gain := t.Utility(h, with, run, copied) - t.Utility(h, without, run, nil)
		if h == grid.ReliabilityReplicate || gain > t.margin(h, run) {
			x.Technique = with
		}
	}
	x.Success = t.mean(x.Technique, run, copied, func(c *course) float64 {
		if c.value > 0 {
			return 1
		}
		return 0
	})
	return x
}

// margin is what a copy has to gain at least: a thousandth of what a run would that cannot be lost.
func (t *Task) margin(h grid.Reliability, run Run) float64 {
	return max(of(h, &course{1, t.Value, run.Seconds, run.Seconds}), 0) / 1000
}

// Utility is what a technique is worth by a heuristic, in its own unit. copied is what a copy would be like, of
// [utility.Replicate].
func (t *Task) Utility(h grid.Reliability, q utility.Technique, run Run, copied *Run) float64 {
	return t.mean(q, run, copied, func(c *course) float64 { return of(h, c) })
}

func (t *Task) mean(q utility.Technique, run Run, copied *Run, of func(*course) float64) (u float64) {
	var buffer [4]course
	for _, c := range t.courses(q, run, copied, buffer[:0]) {
		u += c.chance * of(&c)
	}
	return u
}
