package rates

import (
	"slices"
	"strings"

	"skep/grid"
)

// Class is what was measured here of one class of tasks. Its methods may be called on nil: nothing was measured.
type Class struct {
	name        string
	count       float64 // arrivals, decayed with the time constant Config.Memory
	since       grid.Time
	last        grid.Time // when count was last decayed
	used        grid.Time // last arrival or run
	seconds     float64   // decayed mean run time on one slot here at full speed
	runs        float64   // successful runs in seconds, at most 1/meanWeight
	overhead    float64   // decayed mean of the part of a run's time here in which its process did not run
	meanEnd     float64   // decayed mean run time of this node's tasks, on any worker
	ends        float64   // ended tasks in meanEnd, at most 1/meanWeight
	endSCV      float64   // decayed mean of the squared deviations from meanEnd, relative to its square
	endSCVCount float64   // results in endSCV, at most 1/scvWeight
	longer      streak
	runSCV      float64 // decayed mean of the squared deviations from seconds, relative to its square
	runSCVCount float64 // runs in runSCV, at most 1/scvWeight
	spec        *grid.JobSpec
	saved       float64 // seconds as last written to disk
	foreign     bool    // no such task was submitted here: a worker named the class
	split       bool    // it is told by its levels
}

// Spec is the specification of the last job of the class submitted here; nil = there was none.
func (c *Class) Spec() *grid.JobSpec {
	if c == nil {
		return nil
	}
	return c.spec
}

// find returns the index of a class measured here, or where to insert it.
func (e *Estimator) find(name string) (int, bool) {
	return slices.BinarySearchFunc(e.classes, name, func(c *Class, s string) int { return strings.Compare(c.name, s) })
}

// Class returns the measurements of a class; nil if there are none.
func (e *Estimator) Class(name string) *Class {
	if at, ok := e.find(name); ok {
		return e.classes[at]
	}
	return nil
}

// class returns the measurements of a class, and adds it if need be.
func (e *Estimator) class(name string) *Class {
	c := e.Class(name)
	if c == nil {
		if of, finer := grid.ClassOfLevel(name); finer {
			e.makeRoomFor(of)
		}
		if len(e.classes) >= maxClasses {
			e.evict(func(*Class) bool { return true })
		}
		c = &Class{name: name}
		at, _ := e.find(name)
		e.classes = slices.Insert(e.classes, at, c)
	}
	return c
}

// evict removes the least recently used of the classes that may go; there must be one.
func (e *Estimator) evict(may func(*Class) bool) {
	oldest := -1
	for i, c := range e.classes {
		if may(c) && (oldest < 0 || c.lastUse() < e.classes[oldest].lastUse()) {
			oldest = i
		}
	}
	if e.classes[oldest].saved > 0 {
		e.forgotten = append(e.forgotten, e.classes[oldest].name)
	}
	e.classes = slices.Delete(e.classes, oldest, oldest+1)
}

// Intern returns a long-lived string equal to name, so that the memory of a message is not retained.
func (e *Estimator) Intern(name string) string {
	if c := e.Class(name); c != nil {
		return c.name
	}
	return strings.Clone(name)
}

// save writes the record of a class, and deletes those of evicted classes.
func (e *Estimator) save(c *Class, fx *grid.Effects) {
	for _, name := range e.forgotten {
		rec := fx.Save(grid.RecClass)
		rec.Delete, rec.Later, rec.Class.Class = true, true, name
	}
	e.forgotten = e.forgotten[:0]
	c.saved = c.seconds
	rec := fx.Save(grid.RecClass)
	rec.Later = true
	rec.Class = grid.ClassRecord{Class: c.name, Mean: c.seconds, Count: c.runs, Spread: c.runSCV, Spreads: c.runSCVCount}
}

// Restore restores the measurements of a class. A name that must not be published is deleted from disk, since older
// versions recorded any name that a worker sent, and so is a level's name as older versions made it: it would be that
// of a class of which nothing more comes.
func (e *Estimator) Restore(rec *grid.ClassRecord) {
	if !grid.ValidLevel(rec.Class) || grid.IsEarlierLevel(rec.Class) {
		e.forgotten = append(e.forgotten, rec.Class)
		return
	}
	if !(rec.Mean > 0) || !(rec.Count > 0) {
		return
	}
	c := e.class(rec.Class)
	c.seconds, c.runs, c.saved = rec.Mean, min(rec.Count, 1/meanWeight), rec.Mean
	if rec.Spread >= 0 && rec.Spreads > 0 { // older versions wrote none
		c.runSCV, c.runSCVCount = min(rec.Spread, maxDeviation), min(rec.Spreads, 1/scvWeight)
	}
}
