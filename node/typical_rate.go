package node

import (
	"slices"
	"strings"

	"skep/grid"
)

// typicalRate is the usual μ/speed of a class, once somebody wanted to know it.
type typicalRate struct {
	class  string
	here   *classRate // what is measured of it here, while columns are made; nil = nothing
	rate   float64    // 0 = nobody has measured it
	looked bool
}

// smallClassList are looked through for an equal one, which costs less than to find out how they are ordered.
const smallClassList = 8

// findTypical returns where a class stands among those known anywhere, or would.
func (r *rates) findTypical(name string) (int, bool) {
	for i := range r.typicals[:min(len(r.typicals), smallClassList)] {
		if r.typicals[i].class == name {
			return i, true
		}
	}
	return slices.BinarySearchFunc(r.typicals, name, func(m typicalRate, s string) int { return strings.Compare(m.class, s) })
}

// addClasses lists a node's classes.
func (r *rates) addClasses(rates []grid.Rate) {
	for i := range rates {
		if at, ok := r.findTypical(rates[i].Class); !ok {
			r.typicals = slices.Insert(grid.Room(r.typicals, minGrowth), at, typicalRate{class: rates[i].Class})
		}
	}
}

// addMeasured completes them by what is known of the classes here.
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

// typicalAt is the usual μ/speed of the class at that place of norm; 0 where nobody has measured it.
func (r *rates) typicalAt(k int) float64 {
	m := &r.typicals[k]
	if !m.looked {
		m.rate, m.looked = r.measured(m.class), true
	}
	return m.rate
}

// typical is that of a class by its name. One that no column names is looked for each time.
func (r *rates) typical(name string) float64 {
	if at, ok := r.findTypical(name); ok {
		return r.typicalAt(at)
	}
	return r.measured(name)
}

// rateAtSpeed is the execution rate that a node of that speed is taken to have for a class that is not measured on it.
func rateAtSpeed(typical, speed float64) float64 {
	if typical == 0 {
		return speed / prior
	}
	return max(typical*speed, 1e-9)
}

// guess is that of a class by its name.
func (r *rates) guess(name string, speed float64) float64 { return rateAtSpeed(r.typical(name), speed) }
