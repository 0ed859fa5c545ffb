package chart

import (
	"fmt"
	"math"
	"unicode/utf8"
)

// Chart is a picture of curves or bars.
type Chart struct {
	Title, X, Y string
	Log         bool // the X axis is logarithmic
	Curves      []Curve
	Bars        []Bar
}

// Curve is points in order of X, joined. It has a gap where one is not finite.
type Curve struct {
	Name string
	X, Y []float64
}

// Bar is a value with a name; Half is drawn as an error bar.
type Bar struct {
	Name        string
	Value, Half float64
}

const (
	width, height = 760, 440
	left, right   = 80, 170 // where the legend stands
	margin        = 24      // in its place, where there are bars
	top, bottom   = 50, 84
	letter        = 6  // about the width of one in the names of bars
	rows          = 3  // of such names, so that many find a place
	rowHeight     = 13 // of one
	longest       = 44 // letters of a name in the legend, which find a place in the least size
)

var colours = [...]string{"#1f6fb4", "#d95f02", "#2b8a3e", "#8e44ad", "#c0392b", "#7f6000", "#00838f", "#ad1457"}

// dashes are pixels of line and gap in turn. All colours are drawn with one before they come again with the next.
var dashes = [...][]float64{nil, {9, 4}, {2.5, 3}, {12, 3, 2.5, 3}, {5, 2, 5, 7}}

// canvas is what a chart is drawn on. Places are in pixels from the left and the top.
type canvas interface {
	box(x, y, w, h float64, colour string)
	line(x1, y1, x2, y2 float64, colour string)
	curve(x, y []float64, colour string, dash []float64)
	text(x, y float64, anchor anchor, size float64, upright bool, s string)
}

// anchor is the part of a text that is at its place.
type anchor int

const (
	start anchor = iota
	middle
	end
)

const black, grey = "#000000", "#dddddd"

func (c *Chart) draw(to canvas) {
	to.box(0, 0, width, height, "#ffffff")
	to.text(width/2, 26, middle, 16, false, c.Title)
	edge := float64(width - right)
	if len(c.Bars) > 0 {
		edge = width - margin
	}
	to.text((left+edge)/2, height-14, middle, 12, false, c.X)
	to.text(18, (top+height-bottom)/2, middle, 12, true, c.Y)
	y := axis{from: height - bottom, to: top}
	if len(c.Bars) > 0 {
		for _, bar := range c.Bars {
			y.cover(bar.Value + bar.Half)
		}
		y.cover(0)
		y.grid(to, false, edge)
		c.bars(to, &y, edge)
		return
	}
	x := axis{from: left, to: edge, log: c.Log}
	y.cover(0)
	for _, k := range c.Curves {
		for i := range k.X {
			x.cover(k.X[i])
			y.cover(k.Y[i])
		}
	}
	y.grid(to, false, edge)
	x.grid(to, true, edge)
	c.curves(to, &x, &y)
}

func (c *Chart) curves(to canvas, x, y *axis) {
	row := min(18, float64(height-top-16)/float64(len(c.Curves))) // of the legend
	for n, k := range c.Curves {
		colour, dash := colours[n%len(colours)], dashes[n/len(colours)%len(dashes)]
		var px, py []float64
		for i := range k.X {
			if c.Log && k.X[i] <= 0 {
				continue
			}
			at, high := x.at(k.X[i]), y.at(k.Y[i])
			if finite(at) && finite(high) {
				px, py = append(px, at), append(py, high)
				continue
			}
			to.curve(px, py, colour, dash) // which has a gap here
			px, py = nil, nil
		}
		to.curve(px, py, colour, dash)
		at := top + 10 + row*float64(n)
		to.curve([]float64{width - right + 8, width - right + 38}, []float64{at, at}, colour, dash)
		name := []rune(k.Name)
		if len(name) > longest {
			name = append(name[:longest-1], '…')
		}
		long := 0.55 * float64(max(1, len(name))) // in heights of a letter
		to.text(width-right+44, at+4, start, max(5, min(12, row, (right-48)/long)), false, string(name))
	}
}

func (c *Chart) bars(to canvas, y *axis, edge float64) {
	step := (edge - left) / float64(len(c.Bars))
	floor := y.at(y.lo)
	wide := 1
	for _, bar := range c.Bars {
		wide = max(wide, int(math.Ceil(letter*float64(utf8.RuneCountInString(bar.Name))/step)))
	}
	for n, bar := range c.Bars {
		x := left + step*(float64(n)+0.15)
		at := y.at(bar.Value)
		to.box(x, at, step*0.7, y.at(0)-at, colours[0])
		if bar.Half > 0 {
			mid := x + step*0.35
			to.line(mid, min(y.at(bar.Value-bar.Half), floor), mid, y.at(bar.Value+bar.Half), black)
		}
		to.text(x+step*0.35, height-bottom+16+float64(n%min(wide, rows))*rowHeight, middle, 11, false, bar.Name)
	}
}

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
		p, name := a.at(v), fmt.Sprintf("%.4g", v)
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
