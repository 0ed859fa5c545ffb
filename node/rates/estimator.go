package rates

import (
	"slices"
	"time"

	"skep/grid"
)

// Config is what an Estimator is made with.
type Config struct {
	// Given are rates known beforehand, ordered by class: they are published unchanged, and no mean is measured. Empty =
	// rates are measured.
	Given []grid.Rate

	Speed         float64       // of one core here relative to the reference machine (1)
	ArrivalMemory time.Duration // time constant of the arrival rates
	Scratch       *Scratch
}

// Scratch is memory used only within a call. Estimators that are never called at the same time can share one.
type Scratch struct {
	sample []float64
}

// Estimator holds the measurements of one node. It is the only writer of its state.
type Estimator struct {
	memory, speed  float64 // seconds; relative to the reference machine
	given, changed bool    // rates are given; a column may have changed since TakeChange
	scratch        *Scratch
	classes        []*Class // by name
	move           moveCost
	version        uint64 // of the published rates
	lastPublish    grid.Time
	own            []grid.Rate        // as published: at most the busiest grid.MaxRates
	next           []grid.Rate        // buffer of Publish
	rows           []Row              // by class
	levelRates     map[string]float64 // by level, as looked up by LevelRate; 0 = none
	forgotten      []string           // evicted classes whose records are still on disk
}

// Bounds and constants of measuring.
const (
	maxClasses        = 256            // classes measured at once; the least recently used is evicted
	maxForeignClasses = 8              // of them, those that only workers have named
	publishThreshold  = 0.10           // relative change of a rate from which it is published again
	alphaFloor        = 1e-4           // arrivals per second below which a class counts as idle
	publishGap        = grid.Time(1e9) // least time between two publications of the own rates

	minGrowth = 2 // least number of rows by which the list grows
)

// New makes an Estimator without measurements.
func New(c Config) Estimator {
	return Estimator{memory: c.ArrivalMemory.Seconds(), speed: c.Speed, scratch: c.Scratch,
		given: len(c.Given) > 0, own: slices.Clone(c.Given), version: 1, changed: true}
}

// TakeChange reports whether the rates of some node, as [Estimator.Rows] and this Estimator give them, may have changed
// since the last call.
func (e *Estimator) TakeChange() bool {
	changed := e.changed
	e.changed = false
	return changed
}
