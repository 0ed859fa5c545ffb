package node

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"skep/grid"
)

// Bounds and constants of measuring.
const (
	maxClasses       = 256            // classes measured at once; the least recently used is evicted
	publishThreshold = 0.10           // relative change of a rate from which it is published again
	alphaFloor       = 1e-4           // arrivals per second below which a class counts as idle
	prior            = 1.0            // seconds on the reference node assumed for a class that nobody has run
	publishGap       = grid.Time(1e9) // least time between two publications of the own rates
	maxOverhead      = 60.0           // seconds

	// firstOverhead, plus twice the measured overhead, bounds what one result can teach: the value depends on the run
	// time that the worker reports.
	firstOverhead = 0.1 // seconds
)

// rates measures what the theses take as known: arrival rate by class (α), execution rate of one slot of this node by
// class (μ), cost of moving a task, and what others publish of theirs.
type rates struct {
	cfg         *settings
	classes     []*classRate // by name
	overhead    float64      // decayed mean cost of moving a task, seconds; 0 = not measured
	version     uint64       // of the published rates
	lastPublish grid.Time
	own         []grid.Rate                 // as published: at most the busiest MaxRates
	next        []grid.Rate                 // scratch of publish
	columnMark  mark                        // version of the own column that the policies have
	stale       bool                        // some column changed since the policies were told
	typicals    []typicalRate               // of the classes in any column, by name
	measured    func(class string) float64  // median over the nodes that have measured it
	speed       func(grid.MilliCPU) float64 // fraction of full speed of a task started here now, beside others
	forgotten   []string                    // evicted classes whose records are still on disk
}

type classRate struct {
	name        string
	count       float64 // arrivals, decayed with the time constant Config.Memory
	since       grid.Time
	last        grid.Time // when count was last decayed
	used        grid.Time // last arrival or run
	seconds     float64   // decayed mean run time on one slot here at full speed
	runs        float64   // successful runs in seconds, at most 1/meanWeight
	meanEnd     float64   // decayed mean run time of this node's tasks, on any worker
	ends        float64   // ended tasks in meanEnd, at most 1/meanWeight
	endSCV      float64   // decayed mean of the squared deviations from meanEnd, relative to its square
	endSCVCount float64   // results in endSCV, at most 1/scvWeight
	runSCV      float64   // decayed mean of the squared deviations from seconds, relative to its square
	runSCVCount float64   // runs in runSCV, at most 1/scvWeight
	spec        *grid.JobSpec
	saved       float64 // seconds as last written to disk
	foreign     bool    // no such task was submitted here: a worker named the class
}

func newRates(cfg *settings) *rates {
	return &rates{cfg: cfg, own: slices.Clone(cfg.Given), version: 1, stale: true}
}

// find returns the index of a class measured here, or where to insert it.
func (r *rates) find(name string) (int, bool) {
	return slices.BinarySearchFunc(r.classes, name, func(c *classRate, s string) int { return strings.Compare(c.name, s) })
}

// get returns the measurements of a class; nil if there are none.
func (r *rates) get(name string) *classRate {
	if at, ok := r.find(name); ok {
		return r.classes[at]
	}
	return nil
}

// class returns the measurements of a class, and adds it if need be.
func (r *rates) class(name string) *classRate {
	c := r.get(name)
	if c == nil {
		if len(r.classes) >= maxClasses {
			r.evict(func(*classRate) bool { return true })
		}
		c = &classRate{name: name}
		at, _ := r.find(name)
		r.classes = slices.Insert(r.classes, at, c)
	}
	return c
}

// evict removes the least recently used of the classes that may go; there must be one.
func (r *rates) evict(may func(*classRate) bool) {
	oldest := -1
	for i, c := range r.classes {
		if may(c) && (oldest < 0 || c.used < r.classes[oldest].used) {
			oldest = i
		}
	}
	if r.classes[oldest].saved > 0 {
		r.forgotten = append(r.forgotten, r.classes[oldest].name)
	}
	r.classes = slices.Delete(r.classes, oldest, oldest+1)
}

// intern returns a long-lived string equal to name, so that the memory of a message is not retained.
func (r *rates) intern(name string) string {
	if c := r.get(name); c != nil {
		return c.name
	}
	return strings.Clone(name)
}

// arrive counts submissions of a class at this node:
//
//	count(t) = count(s)·exp(−(t−s)/τ) + k
func (r *rates) arrive(now grid.Time, spec *grid.JobSpec, name string, k int) {
	c := r.class(name)
	if c.spec == nil {
		c.since = now
		r.stale = true
	}
	c.spec, c.foreign = spec, false
	c.count = c.count*r.decay(now, c.last) + float64(k)
	c.last, c.used = now, now
}

func (r *rates) decay(now, last grid.Time) float64 {
	return math.Exp(-now.Sub(last).Seconds() / r.cfg.Memory.Seconds())
}

// alpha is the arrival rate, tasks per second. The count of a process that began T ago covers the share 1−exp(−T/τ) of
// its memory; the first seconds are smoothed over at least τ/60.
func (r *rates) alpha(now grid.Time, c *classRate) float64 {
	if c.count == 0 {
		return 0
	}
	tau := r.cfg.Memory.Seconds()
	seen := 1 - math.Exp(-max(now.Sub(c.since).Seconds(), tau/60)/tau)
	return min(c.count*r.decay(now, c.last)/(tau*seen), grid.MaxRate)
}

// publish updates the published rates, at most once a second, and increases their version when one of them changed.
func (r *rates) publish(now grid.Time) {
	if len(r.cfg.Given) > 0 || r.lastPublish != 0 && now-r.lastPublish < publishGap {
		return
	}
	r.lastPublish = max(now, 1)
	r.rebuild(now)
	if r.changed() {
		r.own, r.next = r.next, r.own
		r.version++
		r.stale = true
	}
}

// changed reports whether the current rates differ enough from the published ones.
func (r *rates) changed() bool {
	if len(r.own) != len(r.next) {
		return true
	}
	for i := range r.own {
		a, b := &r.own[i], &r.next[i]
		if a.Class != b.Class || differs(a.Alpha, b.Alpha, alphaFloor) || differs(a.Mu, b.Mu, 0) {
			return true
		}
	}
	return false
}

// rebuild computes the rates to publish: the busiest classes by name, the others summed as one class.
func (r *rates) rebuild(now grid.Time) {
	r.next = r.next[:0]
	for _, c := range r.classes {
		alpha := r.alpha(now, c)
		if alpha <= alphaFloor {
			alpha = 0
		}
		if mu := c.mu(); alpha > 0 || mu > 0 {
			r.next = append(r.next, grid.Rate{Class: c.name, Alpha: alpha, Mu: mu})
		}
	}
	if len(r.next) < grid.MaxRates {
		return
	}
	slices.SortStableFunc(r.next, func(a, b grid.Rate) int {
		return cmp.Compare(b.Alpha, a.Alpha)
	})
	other, work := grid.Rate{Class: grid.OtherClass}, 0.0
	for _, o := range r.next[grid.MaxRates-1:] {
		other.Alpha += o.Alpha
		if o.Mu > 0 {
			work += o.Alpha / o.Mu
		}
	}
	if work > 0 { // the rate at which their mix is executed
		other.Mu = min(other.Alpha/work, grid.MaxRate)
	}
	r.next = append(r.next[:grid.MaxRates-1], other)
	slices.SortFunc(r.next, func(a, b grid.Rate) int { return strings.Compare(a.Class, b.Class) })
}

func (c *classRate) mu() float64 {
	if c.runs == 0 {
		return 0
	}
	return min(1/c.seconds, grid.MaxRate)
}

func differs(old, now, floor float64) bool {
	return math.Abs(now-old) > publishThreshold*max(old, floor) && max(old, now) > floor
}
