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
	maxClasses       = 256            // classes measured at once; the quietest goes first
	publishThreshold = 0.10           // share by which a rate must move before peers are told
	alphaFloor       = 1e-4           // arrivals per second below which a class counts as quiet
	prior            = 1.0            // seconds that a task of a class nobody has run is taken to need on the reference
	publishGap       = grid.Time(1e9) // between two looks at whether the own rates moved
	maxOverhead      = 60.0           // seconds

	// firstOverhead and twice what was measured bound what one result can teach: it rests on what the worker says of
	// the time that it took itself.
	firstOverhead = 0.1 // seconds
)

// rates measures what the theses take as known: how fast tasks of each class arrive here (α), how fast one
// slot of this node runs them (μ), what moving a task costs, and what others say of theirs.
type rates struct {
	cfg         *settings
	classes     []*classRate // by name
	overhead    float64      // decayed mean cost of moving a task, seconds; 0 = not measured
	version     uint64       // of the published rates
	lastPublish grid.Time
	own         []grid.Rate                 // as published: at most the busiest MaxRates
	next        []grid.Rate                 // scratch of publish
	columnMark  mark                        // of the own column as the policies know it
	stale       bool                        // some column changed since the policies were told
	typicals    []typicalRate               // of the classes known anywhere, by name
	measured    func(class string) float64  // median over those who have measured it
	speed       func(grid.MilliCPU) float64 // at what part of its speed a task would run here now, beside others
	forgotten   []string                    // forgotten classes whose records are still on disk
}

type classRate struct {
	name        string
	count       float64 // arrivals, decayed with the time constant of Config.Memory
	since       grid.Time
	last        grid.Time // when count was brought up to date
	used        grid.Time // last arrival or run
	seconds     float64   // decayed mean run time of one slot here, had nobody else used the cores
	runs        float64   // successful runs behind it, at most 1/teach
	meanEnd     float64   // decayed mean run time of this node's tasks, wherever they ran
	ends        float64   // of them, at most 1/teach
	endSCV      float64   // decayed mean of the squared deviations from usual, in parts of its square
	endSCVCount float64   // results behind that, at most 1/vary
	runSCV      float64   // decayed mean of the squared deviations from seconds, in parts of its square
	runSCVCount float64   // runs behind that, at most 1/vary
	spec        *grid.JobSpec
	saved       float64 // mean as last written to disk
	foreign     bool    // nobody has submitted such a task here: a worker named the class
}

func newRates(cfg *settings) *rates {
	return &rates{cfg: cfg, own: slices.Clone(cfg.Given), version: 1, stale: true}
}

// find returns where a class measured here stands, or would.
func (r *rates) find(name string) (int, bool) {
	return slices.BinarySearchFunc(r.classes, name, func(c *classRate, s string) int { return strings.Compare(c.name, s) })
}

// get returns what is measured of a class here; nil if nothing is.
func (r *rates) get(name string) *classRate {
	if at, ok := r.find(name); ok {
		return r.classes[at]
	}
	return nil
}

// class returns what is measured of a class here, and makes room for it if need be.
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

// evict forgets, of those that may go, the class that was used longest ago. There must be one.
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

// intern returns a long-lived string equal to name, so that messages' memory is not kept.
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

// alpha is the arrival rate, tasks per second. The count of a process that began T ago has seen the share
// 1−exp(−T/τ) of its memory; the first seconds are smoothed over at least a sixtieth of τ.
func (r *rates) alpha(now grid.Time, c *classRate) float64 {
	if c.count == 0 {
		return 0
	}
	tau := r.cfg.Memory.Seconds()
	seen := 1 - math.Exp(-max(now.Sub(c.since).Seconds(), tau/60)/tau)
	return min(c.count*r.decay(now, c.last)/(tau*seen), grid.MaxRate)
}

// publish brings the rates that peers are told up to date, at most once a second, and gives them a new
// version when one of them moved.
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

// changed reports whether the rates as they are now differ from the published ones enough to be told.
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

// rebuild makes the rates that would be published now: the busiest classes by name, and the rest as one.
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
	if work > 0 { // the rate at which the mix of them is run
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
