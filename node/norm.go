package node

import (
	"slices"
	"strings"

	"skep/grid"
)

// norm is the usual μ/speed of a class, once somebody wanted to know it.
type norm struct {
	class string
	here  *classRate // what is measured of it here, while columns are made; nil = nothing
	mu    float64    // 0 = nobody has measured it
	asked bool
}

// fewClasses are looked through for an equal one, which costs less than to find out how they are ordered.
const fewClasses = 8

// known returns where a class stands among those known anywhere, or would.
func (r *rates) known(name string) (int, bool) {
	for i := range r.norm[:min(len(r.norm), fewClasses)] {
		if r.norm[i].class == name {
			return i, true
		}
	}
	return slices.BinarySearchFunc(r.norm, name, func(m norm, s string) int { return strings.Compare(m.class, s) })
}

// add lists a node's classes.
func (r *rates) add(rates []grid.Rate) {
	for i := range rates {
		if at, ok := r.known(rates[i].Class); !ok {
			r.norm = slices.Insert(grid.Room(r.norm, few), at, norm{class: rates[i].Class})
		}
	}
}

// addOwn completes them by what is known of the classes here.
func (r *rates) addOwn() {
	for _, c := range r.classes {
		at, ok := r.known(c.name)
		if !ok && c.spec != nil {
			r.norm = slices.Insert(grid.Room(r.norm, few), at, norm{class: c.name})
			ok = true
		}
		if ok {
			r.norm[at].here = c
		}
	}
}

// typicalAt is the usual μ/speed of the class at that place of norm; 0 where nobody has measured it.
func (r *rates) typicalAt(k int) float64 {
	m := &r.norm[k]
	if !m.asked {
		m.mu, m.asked = r.measured(m.class), true
	}
	return m.mu
}

// typical is that of a class by its name. One that no column names is looked for each time.
func (r *rates) typical(name string) float64 {
	if at, ok := r.known(name); ok {
		return r.typicalAt(at)
	}
	return r.measured(name)
}

// guess is the execution rate that a node of that speed is taken to have for a class that is not measured on it.
func guess(typical, speed float64) float64 {
	if typical == 0 {
		return speed / prior
	}
	return max(typical*speed, 1e-9)
}

// guess is that of a class by its name.
func (r *rates) guess(name string, speed float64) float64 { return guess(r.typical(name), speed) }
