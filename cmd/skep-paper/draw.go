package main

import (
	"bytes"
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
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
}

// draw makes an SVG picture of a curve: mean completion times with their 95 % intervals, on a logarithmic
// scale since they differ by orders of magnitude near the limit. Where a system was not stable a line ends.
func draw(c *paper.Curve) ([]byte, error) {
	p := plot.New()
	sans := font.Font{Typeface: "Liberation", Variant: "Sans"}
	p.X.Label.Text, p.Y.Label.Text = labels[c.X], "mean completion time, time units"
	p.X.Label.TextStyle.Font = font.From(sans, 11)
	p.Y.Label.TextStyle.Font = font.From(sans, 11)
	p.X.Tick.Label.Font, p.Y.Tick.Label.Font = font.From(sans, 9), font.From(sans, 9)
	p.Legend.TextStyle.Font = font.From(sans, 10)
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	drawn := 0
	for k, s := range c.Series {
		n, err := series(p, k, s)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", c.Name, s.Policy, err)
		}
		drawn += n
	}
	if drawn > 0 {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, ticks{}
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

// band is a series with its intervals.
type band struct {
	plotter.XYs
	plotter.YErrors
}

// series adds one policy to a plot and returns how many points it has.
func series(p *plot.Plot, k int, s paper.Series) (int, error) {
	var b band
	for _, x := range s.Points {
		if !x.Stable || !(x.Mean > 0) {
			continue
		}
		half := min(x.Half, 0.9*x.Mean) // a logarithm has no 0
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
	p.Add(line, points, bars)
	p.Legend.Add(s.Policy, line, points)
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
				t.Label = fmt.Sprintf("%.4g", t.Value)
			}
			if t.Value >= low && t.Value <= high {
				out = append(out, t)
			}
		}
	}
	return out
}
