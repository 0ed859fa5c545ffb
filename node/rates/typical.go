package rates

import (
	"slices"
	"strings"

	"skep/grid"
)

// Prior is the run time assumed for a class that nobody has run, seconds on the reference machine.
const Prior = 1.0

// StatedRates appends to dst what other nodes state of a class, μ over the node's speed, each node once and in any
// order; if proven only those of nodes whose statements are backed by results. The caller of a method gives it as an
// argument, since it is needed only where the typical rate is not known yet.
type StatedRates func(class string, proven bool, dst []float64) []float64

// Row is a class of the allocation: one that some node publishes, or that was submitted here.
type Row struct {
	Class   string
	Here    *Class // measurements here when the rows were set; nil = none
	typical float64
	looked  bool // typical was computed
}

// smallRowList is the length up to which the rows are searched for an equal class: cheaper than ordering strings.
const smallRowList = 8

// findRow returns the index of a class in the rows, or where to insert it.
func (e *Estimator) findRow(class string) (int, bool) {
	for i := range e.rows[:min(len(e.rows), smallRowList)] {
		if e.rows[i].Class == class {
			return i, true
		}
	}
	return slices.BinarySearchFunc(e.rows, class, func(m Row, s string) int { return strings.Compare(m.Class, s) })
}

// Rows returns the rows as last set, ordered by class.
func (e *Estimator) Rows() []Row { return e.rows }

// ResetRows sets the rows to the classes that this node publishes or that were submitted here. Typical rates are
// computed anew.
func (e *Estimator) ResetRows() {
	clear(e.levelRates)
	e.rows = e.rows[:0]
	e.AddRows(e.own)
	for _, c := range e.classes {
		if c.spec != nil && e.Told(c.name) == c.name {
			e.addRow(c.name)
		}
	}
}

// AddRows adds the classes of the rates that a node publishes.
func (e *Estimator) AddRows(published []grid.Rate) {
	for i := range published {
		e.addRow(published[i].Class)
	}
}

func (e *Estimator) addRow(class string) {
	if at, ok := e.findRow(class); !ok {
		e.rows = slices.Insert(grid.Room(e.rows, minGrowth), at, Row{Class: class, Here: e.Class(class)})
	}
}

// TypicalAt is the typical rate of the class of row k: see Typical.
func (e *Estimator) TypicalAt(k int, stated StatedRates) float64 {
	m := &e.rows[k]
	if !m.looked {
		m.typical, m.looked = e.typical(m.Class, stated), true
	}
	return m.typical
}

// Typical is the typical execution rate of a class on a slot of speed 1, tasks per second; 0 if no node has measured
// it. It is computed on first use after the rows were set; that of a class in no row, each time.
func (e *Estimator) Typical(class string, stated StatedRates) float64 {
	if at, ok := e.findRow(class); ok {
		return e.TypicalAt(at, stated)
	}
	return e.typical(class, stated)
}

// typical is the median for a class, and for a level of it that has none, that of the class.
func (e *Estimator) typical(name string, stated StatedRates) float64 {
	class, finer := grid.ClassOfLevel(name)
	if finer {
		if mu := e.LevelRate(name, stated); mu > 0 {
			return mu
		}
	}
	return e.median(class, stated)
}

// median returns the median of μ/speed over this node and the proven ones; if none of these has measured the class,
// over all; 0 if nobody has measured it.
func (e *Estimator) median(class string, stated StatedRates) float64 {
	for _, proven := range [...]bool{true, false} {
		xs := e.scratch.sample[:0]
		if mu := e.givenRate(class); mu > 0 {
			xs = append(xs, mu/e.speed)
		} else if mu := e.told(e.Class(class)); mu > 0 {
			xs = append(xs, mu/e.speed)
		}
		xs = stated(class, proven, xs)
		e.scratch.sample = xs
		if len(xs) > 0 {
			slices.Sort(xs)
			return xs[(len(xs)-1)/2]
		}
	}
	return 0
}

// Rate is the execution rate assumed for a class on a slot of a node of that speed which has not measured it, tasks per
// second.
func (e *Estimator) Rate(class string, speed float64, stated StatedRates) float64 {
	return RateAtSpeed(e.Typical(class, stated), speed)
}

// RateAtSpeed scales a typical rate to a node's speed; 0 = nobody has measured the class.
func RateAtSpeed(typical, speed float64) float64 {
	if typical == 0 {
		return speed / Prior
	}
	return max(typical*speed, 1e-9)
}
