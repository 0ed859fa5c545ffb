package main

import (
	"bytes"
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	canvas "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"skep/sim/paper"
)

// labels of the axes that a curve may have.
var labels = map[string]string{
	"arrivals":     "arrivals of all clusters, jobs a second",
	"load":         "load, 1/lambda*",
	"rates":        "largest relative error of the rates told",
	"availability": "largest relative error of the availabilities told",
	"links":        "distance, links of the overlay",
	"nodes":        "nodes",
}

// figures are what may be drawn over them; none is a completion time of a queueing system.
var figures = map[string]string{
	"":         "mean completion time, time units",
	"W":        "mean completion time, s",
	"per_ad":   "entries sent for each change",
	"bytes":    "bytes a node and second",
	"error":    "mean error of the load, share",
	"stale":    "age of the last news, s",
	"coverage": "known, share",
	"hops":     "hops",
	"success":  "requests met, share",
	"messages": "messages for each request",
	"busiest":  "messages on the busiest tenth, share",
}

// draw makes an SVG picture of a curve: means with their 95 % intervals. Where a system was not stable a line ends.
func draw(c *paper.Curve) ([]byte, error) {
	p := plot.New()
	sans := font.Font{Typeface: "Liberation", Variant: "Sans"}
	p.X.Label.Text, p.Y.Label.Text = labels[c.X], figures[c.Y]
	p.X.Label.TextStyle.Font = font.From(sans, 11)
	p.Y.Label.TextStyle.Font = font.From(sans, 11)
	p.X.Tick.Label.Font, p.Y.Tick.Label.Font = font.From(sans, 9), font.From(sans, 9)
	p.Legend.TextStyle.Font = font.From(sans, 10)
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	drawn, log := 0, wide(c)
	for k, s := range c.Series {
		n, err := series(p, k, s, log, len(c.Names) == 0)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", c.Name, s.Policy, err)
		}
		drawn += n
	}
	if drawn > 0 {
		scale(p, c, log)
	}
	v := vgsvg.New(16*vg.Centimeter, 10*vg.Centimeter)
	p.Draw(canvas.New(v))
	var b bytes.Buffer
	if _, err := v.WriteTo(&b); err != nil {
		return nil, err
	}
	at := bytes.Index(b.Bytes(), []byte("<svg"))
	if at < 0 {
		return nil, fmt.Errorf("%s: the picture is no SVG", c.Name)
	}
	return b.Bytes()[at:], nil
}

// wide reports whether the values differ by so much that only a logarithm shows them all: completion times do near the
// limit of a system.
func wide(c *paper.Curve) bool {
	low, high := math.Inf(1), 0.0
	for _, s := range c.Series {
		for _, x := range s.Points {
			if x.Stable {
				low, high = min(low, x.Mean), max(high, x.Mean)
			}
		}
	}
	return c.Y == "" || low > 0 && high > 20*low
}

// scale sets the axes.
func scale(p *plot.Plot, c *paper.Curve, log bool) {
	if log {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, ticks{}
	} else {
		p.Y.Min = 0
		p.Y.Max *= 1.1 + 0.06*float64(len(c.Series)) // the names stand above
	}
	if c.X == "nodes" {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, ticks{}
	}
	if len(c.Names) > 0 {
		p.NominalX(c.Names...)
		p.X.Tick.Label.Rotation, p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = math.Pi/8, text.XRight, text.YTop
	}
}

// band is a series with its intervals.
type band struct {
	plotter.XYs
	plotter.YErrors
}

// series adds one to a plot, with a line or points alone, and returns how many it has.
func series(p *plot.Plot, k int, s paper.Series, log, joined bool) (int, error) {
	var b band
	for _, x := range s.Points {
		if !x.Stable || log && !(x.Mean > 0) {
			continue
		}
		half := x.Half
		if log {
			half = min(half, 0.9*x.Mean) // a logarithm has no 0
		}
		b.XYs = append(b.XYs, plotter.XY{X: x.X, Y: x.Mean})
		b.YErrors = append(b.YErrors, struct{ Low, High float64 }{half, x.Half})
	}
	if len(b.XYs) == 0 {
		return 0, nil
	}
	line, points, err := plotter.NewLinePoints(b.XYs)
	if err != nil {
		return 0, err
	}
	bars, err := plotter.NewYErrorBars(b)
	if err != nil {
		return 0, err
	}
	line.Color, points.Color, bars.Color = plotutil.Color(k), plotutil.Color(k), plotutil.Color(k)
	line.Dashes, points.Shape = plotutil.Dashes(k), plotutil.Shape(k)
	p.Add(points, bars)
	if joined {
		p.Add(line)
		p.Legend.Add(s.Policy, line, points)
	} else {
		p.Legend.Add(s.Policy, points)
	}
	return len(b.XYs), nil
}

// ticks are those of a logarithmic axis: 1, 2 and 5 of each power of ten with numbers, the rest without.
type ticks struct{}

// Ticks implements plot.Ticker.
func (ticks) Ticks(low, high float64) (out []plot.Tick) {
	for e := math.Floor(math.Log10(low)); e <= math.Log10(high); e++ {
		for d := 1.0; d < 10; d++ {
			t := plot.Tick{Value: d * math.Pow(10, e)}
			if d == 1 || high/low < 1000 && (d == 2 || d == 5) {
				t.Label = fmt.Sprintf("%.6g", t.Value)
			}
			if t.Value >= low && t.Value <= high {
				out = append(out, t)
			}
		}
	}
	return out
}
