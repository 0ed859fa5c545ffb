package rates

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"skep/grid"
)

// Published returns the rates that others are told, ordered by class, and their version, which grows with each change.
// The slice is valid until the second Publish from now.
func (e *Estimator) Published() (rates []grid.Rate, version uint64) { return e.own, e.version }

// Publish updates the published rates, at most once a second, and increases their version when one of them changed.
func (e *Estimator) Publish(now grid.Time) {
	if e.given || e.lastPublish != 0 && now-e.lastPublish < publishGap {
		return
	}
	e.lastPublish = max(now, 1)
	clear(e.levelRates)
	e.rebuild(now)
	if e.differs() {
		e.own, e.next = e.next, e.own
		e.version++
		e.changed = true
	}
}

// differs reports whether the current rates differ enough from the published ones.
func (e *Estimator) differs() bool {
	if len(e.own) != len(e.next) {
		return true
	}
	for i := range e.own {
		a, b := &e.own[i], &e.next[i]
		if a.Class != b.Class || differs(a.Alpha, b.Alpha, alphaFloor) || differs(a.Mu, b.Mu, 0) {
			return true
		}
	}
	return false
}

func differs(old, now, floor float64) bool {
	return math.Abs(now-old) > publishThreshold*max(old, floor) && max(old, now) > floor
}

// rebuild computes the rates to publish: the busiest classes by name, the others summed as one class. Levels are told
// only if there is room for all of them.
func (e *Estimator) rebuild(now grid.Time) {
	if e.collect(now, true); len(e.next) >= grid.MaxRates {
		e.collect(now, false)
	}
	if len(e.next) < grid.MaxRates {
		return
	}
	slices.SortStableFunc(e.next, func(a, b grid.Rate) int {
		return cmp.Compare(b.Alpha, a.Alpha)
	})
	other, work := grid.Rate{Class: grid.OtherClass}, 0.0
	for _, o := range e.next[grid.MaxRates-1:] {
		other.Alpha += o.Alpha
		if o.Mu > 0 {
			work += o.Alpha / o.Mu
		}
	}
	if work > 0 { // the rate at which their mix is executed
		other.Mu = min(other.Alpha/work, grid.MaxRate)
	}
	e.next = append(e.next[:grid.MaxRates-1], other)
	slices.SortFunc(e.next, func(a, b grid.Rate) int { return strings.Compare(a.Class, b.Class) })
}

// collect sets the rates of all classes, those that are split into levels by these, if levels is set: what is left of
// such a class is its tasks of other levels. A class comes before its levels, with other classes in between.
func (e *Estimator) collect(now grid.Time, levels bool) {
	e.next = e.next[:0]
	for _, c := range e.classes {
		class, finer := grid.ClassOfLevel(c.name)
		if finer && !(levels && c.knownLevel() && e.Class(class).isSplit()) {
			continue
		}
		alpha := e.busy(now, c)
		if !finer {
			e.updateSplit(c)
		}
		if levels && c.split {
			for _, l := range e.levels(c.name) {
				if l.knownLevel() {
					alpha = max(alpha-e.busy(now, l), 0)
				}
			}
		}
		if mu := e.told(c); alpha > 0 || mu > 0 || c.split {
			e.next = append(e.next, grid.Rate{Class: c.name, Alpha: alpha, Mu: mu})
		}
	}
}

// busy is the arrival rate, 0 of an idle class.
func (e *Estimator) busy(now grid.Time, c *Class) float64 {
	if alpha := e.alpha(now, c); alpha > alphaFloor {
		return alpha
	}
	return 0
}

// told returns the measured execution rate of one slot here as others are told it, tasks per second; 0 = not measured,
// or of a level by too few runs. c may be nil.
func (e *Estimator) told(c *Class) float64 {
	if c == nil {
		return 0
	}
	if _, finer := grid.ClassOfLevel(c.name); !finer {
		return c.mu()
	}
	if c.runs < minLevelResults {
		return 0
	}
	return min(1/e.estimate(c.name, runsOf).mean, grid.MaxRate)
}
