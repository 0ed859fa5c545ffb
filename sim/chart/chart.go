package chart

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Chart is a picture of curves or bars.
type Chart struct {
	Title, X, Y string
	Log         bool // the X axis is logarithmic
	Curves      []Curve
	Bars        []Bar
}

// Curve is points in order of X, joined.
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
	left, right   = 80, 170
	top, bottom   = 50, 60
)

var colours = [...]string{"#1f6fb4", "#d95f02", "#2b8a3e", "#8e44ad", "#c0392b", "#7f6000", "#00838f", "#ad1457"}

// SVG returns the chart.
func (c *Chart) SVG() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	text(&b, width/2, 26, "middle", 16, c.Title)
	text(&b, (left+width-right)/2, height-14, "middle", 12, c.X)
	fmt.Fprintf(&b, `<text transform="translate(18,%d) rotate(-90)" text-anchor="middle">%s</text>`+"\n", (top+height-bottom)/2, html.EscapeString(c.Y))
	y := axis{from: height - bottom, to: top}
	if len(c.Bars) > 0 {
		for _, bar := range c.Bars {
			y.cover(bar.Value + bar.Half)
		}
		y.cover(0)
		y.grid(&b, false)
		c.bars(&b, &y)
	} else {
		x := axis{from: left, to: width - right, log: c.Log}
		y.cover(0)
		for _, k := range c.Curves {
			for i := range k.X {
				x.cover(k.X[i])
				y.cover(k.Y[i])
			}
		}
		y.grid(&b, false)
		x.grid(&b, true)
		c.curves(&b, &x, &y)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func text(b *strings.Builder, x, y float64, anchor string, size int, s string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s" font-size="%d">%s</text>`+"\n", x, y, anchor, size, html.EscapeString(s))
}

func (c *Chart) curves(b *strings.Builder, x, y *axis) {
	for n, k := range c.Curves {
		colour := colours[n%len(colours)]
		fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="1.8" points="`, colour)
		for i := range k.X {
			if !c.Log || k.X[i] > 0 {
				fmt.Fprintf(b, "%.1f,%.1f ", x.at(k.X[i]), y.at(k.Y[i]))
			}
		}
		b.WriteString("\"/>\n")
		at := float64(top + 8 + 18*n)
		fmt.Fprintf(b, `<rect x="%d" y="%.1f" width="14" height="4" fill="%s"/>`+"\n", width-right+12, at, colour)
		text(b, width-right+32, at+6, "start", 12, k.Name)
	}
}

func (c *Chart) bars(b *strings.Builder, y *axis) {
	step := float64(width-right-left) / float64(len(c.Bars))
	for n, bar := range c.Bars {
		x := left + step*(float64(n)+0.15)
		at := y.at(bar.Value)
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, at, step*0.7, y.at(0)-at, colours[0])
		if bar.Half > 0 {
			mid := x + step*0.35
			fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="black"/>`+"\n", mid, y.at(bar.Value-bar.Half), mid, y.at(bar.Value+bar.Half))
		}
		text(b, x+step*0.35, height-bottom+16, "middle", 11, bar.Name)
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
	if math.IsNaN(v) || math.IsInf(v, 0) || a.log && v <= 0 {
		return
	}
	if !a.any {
		a.lo, a.hi, a.any = v, v, true
	}
	a.lo, a.hi = min(a.lo, v), max(a.hi, v)
}

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

// grid draws lines at round values.
func (a *axis) grid(b *strings.Builder, vertical bool) {
	if !a.any {
		a.lo, a.hi, a.any = 0, 1, true
	}
	if a.hi <= a.lo {
		a.hi = a.lo + max(math.Abs(a.lo), 1)
	}
	for _, v := range a.ticks() {
		p := a.at(v)
		if vertical {
			fmt.Fprintf(b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#ddd"/>`+"\n", p, top, p, height-bottom)
			text(b, p, height-bottom+16, "middle", 11, fmt.Sprintf("%.4g", v))
		} else {
			fmt.Fprintf(b, `<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#ddd"/>`+"\n", left, p, width-right, p)
			text(b, left-8, p+4, "end", 11, fmt.Sprintf("%.4g", v))
		}
	}
}

// ticks returns round values on the axis, about six.
func (a *axis) ticks() []float64 {
	var out []float64
	if a.log {
		for e := math.Floor(math.Log10(a.lo)); e <= math.Log10(a.hi); e++ {
			for _, m := range [...]float64{1, 2, 5} {
				if v := m * math.Pow(10, e); v >= a.lo && v <= a.hi {
					out = append(out, v)
				}
			}
		}
		return out
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
