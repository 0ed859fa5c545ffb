package node

import (
	"slices"
	"strings"

	"skep/grid"
)

// typicalRate is the typical μ/speed of a class, computed on first use.
type typicalRate struct {
	class  string
	here   *classRate // measurements here, while columns are computed; nil = none
	rate   float64    // 0 = no node has measured it
	looked bool
}

// smallClassList is the length up to which a list is searched for an equal class: cheaper than ordering strings.
const smallClassList = 8

// findTypical returns the index of a class in typicals, or where to insert it.
func (r *rates) findTypical(name string) (int, bool) {
	for i := range r.typicals[:min(len(r.typicals), smallClassList)] {
		if r.typicals[i].class == name {
			return i, true
		}
	}
	return slices.BinarySearchFunc(r.typicals, name, func(m typicalRate, s string) int { return strings.Compare(m.class, s) })
}

// addClasses adds the classes of a node's rates.
func (r *rates) addClasses(rates []grid.Rate) {
	for i := range rates {
		if at, ok := r.findTypical(rates[i].Class); !ok {
			r.typicals = slices.Insert(grid.Room(r.typicals, minGrowth), at, typicalRate{class: rates[i].Class})
		}
	}
}

// addMeasured adds the classes measured or submitted here.
func (r *rates) addMeasured() {
	for _, c := range r.classes {
		at, ok := r.findTypical(c.name)
		if !ok && c.spec != nil {
			r.typicals = slices.Insert(grid.Room(r.typicals, minGrowth), at, typicalRate{class: c.name})
			ok = true
		}
		if ok {
			r.typicals[at].here = c
		}
	}
}

// typicalAt is the typical μ/speed of the class at index k of typicals; 0 if no node has measured it.
func (r *rates) typicalAt(k int) float64 {
	m := &r.typicals[k]
	if !m.looked {
		m.rate, m.looked = r.measured(m.class), true
	}
	return m.rate
}

// typical is typicalAt by the class's name. A class in no column is computed each time.
func (r *rates) typical(name string) float64 {
	if at, ok := r.findTypical(name); ok {
		return r.typicalAt(at)
	}
	return r.measured(name)
}

// rateAtSpeed is the execution rate assumed for an unmeasured class on a node of that speed.
func rateAtSpeed(typical, speed float64) float64 {
	if typical == 0 {
		return speed / prior
	}
	return max(typical*speed, 1e-9)
}

// guess is rateAtSpeed by the class's name.
func (r *rates) guess(name string, speed float64) float64 { return rateAtSpeed(r.typical(name), speed) }
