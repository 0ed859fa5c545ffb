package chart

import (
	"fmt"
	"math"
)

// axis turns values into places.
type axis struct {
	from, to float64
	log      bool
	lo, hi   float64
	any      bool
}

func (a *axis) cover(v float64) {
	if !finite(v) || a.log && v <= 0 {
		return
	}
	if !a.any {
		a.lo, a.hi, a.any = v, v, true
	}
	a.lo, a.hi = min(a.lo, v), max(a.hi, v)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func (a *axis) scale(v float64) float64 {
	if a.log {
		return math.Log10(max(v, a.lo))
	}
	return v
}

func (a *axis) at(v float64) float64 {
	if a.log && v <= 0 {
		return math.NaN()
	}
	lo, hi := a.scale(a.lo), a.scale(a.hi)
	if hi <= lo {
		return a.from
	}
	return a.from + (a.scale(v)-lo)/(hi-lo)*(a.to-a.from)
}

// grid draws lines at round values, up to the right edge.
func (a *axis) grid(to canvas, vertical bool, edge float64) {
	if !a.any {
		a.lo, a.hi, a.any = 0, 1, true
	}
	if a.hi <= a.lo {
		a.hi = a.lo + max(math.Abs(a.lo), 1)
	}
	for _, v := range a.ticks() {
		p, name := a.at(v), fmt.Sprintf("%.6g", v)
		if vertical {
			to.line(p, top, p, height-bottom, grey)
			to.text(p, height-bottom+16, middle, 11, false, name)
		} else {
			to.line(left, p, edge, p, grey)
			to.text(left-8, p+4, end, 11, false, name)
		}
	}
}

// ticks returns round values on the axis, about six.
func (a *axis) ticks() []float64 {
	var out []float64
	if a.log {
		from, to := math.Floor(math.Log10(a.lo)), math.Log10(a.hi)
		decades := max(1, math.Ceil((to-from)/10)) // from tick to tick, where there are many
		for e := from; e <= to; e += decades {
			for _, m := range [...]float64{1, 2, 5} {
				if v := m * math.Pow(10, e); v >= a.lo && v <= a.hi && (m == 1 || to-from <= 4) {
					out = append(out, v)
				}
			}
		}
		if len(out) > 2 {
			return out
		}
		out = nil // so short a piece of it is nearly even
	}
	step := math.Pow(10, math.Floor(math.Log10((a.hi-a.lo)/3)))
	for _, m := range [...]float64{5, 2} {
		if (a.hi-a.lo)/(step*m) >= 3 {
			step *= m
			break
		}
	}
	for k := math.Ceil(a.lo / step); k*step <= a.hi*(1+1e-12); k++ {
		out = append(out, k*step)
	}
	return out
}
