package chart

import (
	"math"
	"unicode/utf8"
)

// Chart is a picture of curves or bars.
type Chart struct {
	Title, X, Y string
	LogX, LogY  bool     // the axis is logarithmic
	Names       []string // of the values 0, 1, 2 … of X, which is no number then
	Curves      []Curve
	Bars        []Bar
}

// Curve is points in order of X, joined. It has a gap where one is not finite, or not positive on a logarithmic axis.
type Curve struct {
	Name   string
	X, Y   []float64
	Half   []float64 // drawn as error bars on marked points; nil = none
	Points bool      // they are not joined
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
	x := axis{from: left, to: edge, log: c.LogX}
	y.log = c.LogY
	y.cover(0)
	for k := range c.Curves {
		c.Curves[k].cover(&x, &y)
	}
	y.grid(to, false, edge)
	if n := len(c.Names); n > 0 {
		x.cover(-0.5)
		x.cover(float64(n) - 0.5)
		names(to, left, (edge-left)/float64(n), c.Names)
	} else {
		x.grid(to, true, edge)
	}
	c.curves(to, &x, &y)
}

// interval returns the ends of the error bar of a point. A logarithm has no 0.
func (k *Curve) interval(i int, log bool) (low, high float64) {
	low, high = k.Y[i]-k.Half[i], k.Y[i]+k.Half[i]
	if log {
		low = max(low, 0.1*k.Y[i])
	}
	return low, high
}

func (k *Curve) cover(x, y *axis) {
	for i := range k.X {
		x.cover(k.X[i])
		y.cover(k.Y[i])
		if k.Half != nil {
			low, high := k.interval(i, y.log)
			y.cover(low)
			y.cover(high)
		}
	}
}

func (c *Chart) curves(to canvas, x, y *axis) {
	row := min(18, float64(height-top-16)/float64(len(c.Curves))) // of the legend
	for n, k := range c.Curves {
		colour, dash := colours[n%len(colours)], dashes[n/len(colours)%len(dashes)]
		var px, py []float64
		flush := func() {
			if !k.Points && len(px) > 0 {
				to.curve(px, py, colour, dash)
			}
			px, py = nil, nil
		}
		for i := range k.X {
			at, high := x.at(k.X[i]), y.at(k.Y[i])
			if !finite(at) || !finite(high) {
				flush() // there is a gap here
				continue
			}
			px, py = append(px, at), append(py, high)
			if k.Half != nil {
				low, up := k.interval(i, y.log)
				to.line(at, y.at(low), at, y.at(up), colour)
				mark(to, at, high, colour)
			}
		}
		flush()
		at := top + 10 + row*float64(n)
		if k.Half != nil {
			mark(to, width-right+23, at, colour)
		}
		if !k.Points {
			to.curve([]float64{width - right + 8, width - right + 38}, []float64{at, at}, colour, dash)
		}
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
	all := make([]string, len(c.Bars))
	for n, bar := range c.Bars {
		x := left + step*(float64(n)+0.15)
		at := y.at(bar.Value)
		to.box(x, at, step*0.7, y.at(0)-at, colours[0])
		if bar.Half > 0 {
			mid := x + step*0.35
			to.line(mid, min(y.at(bar.Value-bar.Half), floor), mid, y.at(bar.Value+bar.Half), black)
		}
		all[n] = bar.Name
	}
	names(to, left, step, all)
}

// mark draws a point.
func mark(to canvas, x, y float64, colour string) { to.box(x-3, y-3, 6, 6, colour) }

// names writes a name below each step from the left on, in several rows where they are long.
func names(to canvas, from, step float64, all []string) {
	wide := 1
	for _, name := range all {
		wide = max(wide, int(math.Ceil(letter*float64(utf8.RuneCountInString(name))/step)))
	}
	for n, name := range all {
		to.text(from+step*(float64(n)+0.5), height-bottom+16+float64(n%min(wide, rows))*rowHeight, middle, 11, false, name)
	}
}
