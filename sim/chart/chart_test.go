package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
	}
}

func TestChartsAreWellFormed(t *testing.T) {
	for name, c := range map[string]Chart{
		"empty": {Title: "<none> & nothing"},
		"curves": {Title: "t", LogX: true,
			Curves: []Curve{{Name: "a<b", X: []float64{0, 0.01, 100}, Y: []float64{0, 0.5, 1}}, {Name: "empty"}}},
		"one":      {Curves: []Curve{{X: []float64{3}, Y: []float64{3}}}},
		"bars":     {Bars: []Bar{{"x", 3, 1}, {"y", 0, 0}}},
		"nonsense": {Bars: []Bar{{"x", math.NaN(), 0}}},
	} {
		svg := c.SVG()
		wellFormed(t, svg)
		if name != "nonsense" && strings.Contains(svg, "NaN") {
			t.Errorf("%s: has a NaN", name)
		}
		b, err := c.PNG()
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(b))
		if err != nil || img.Bounds().Dx() != width*scale || img.Bounds().Dy() != height*scale {
			t.Errorf("%s: %v, %v", name, img.Bounds(), err)
		}
	}
}

func TestTicksAreRound(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		n      int
	}{{0, 1, 6}, {0, 0.7, 8}, {3, 97, 5}, {0, 2e-9, 11}} {
		a := axis{lo: c.lo, hi: c.hi}
		if got := a.ticks(); len(got) < 3 || len(got) > 12 || got[0] < c.lo || got[len(got)-1] > c.hi*(1+1e-9) {
			t.Errorf("%g … %g: %v", c.lo, c.hi, got)
		}
	}
}

// A logarithmic axis has names that can be read, whether it goes over a third or over twenty decades.
func TestTicksOfALogarithmicAxis(t *testing.T) {
	for _, c := range [][2]float64{{1.02, 1.4}, {0.03, 80}, {1e-3, 1e6}, {1e-12, 1e9}, {5, 5.001}} {
		a := axis{lo: c[0], hi: c[1], log: true}
		if got := a.ticks(); len(got) < 3 || len(got) > 12 || got[0] < c[0] || got[len(got)-1] > c[1]*(1+1e-9) {
			t.Errorf("%g … %g: %v", c[0], c[1], got)
		}
	}
}

// What is drawn is there, in its colour: a bar from the zero line to its value, a curve, and texts.
func TestPNGShowsWhatIsDrawn(t *testing.T) {
	count := func(c Chart, colour string) (dots int, box image.Rectangle) {
		b, err := c.PNG()
		if err != nil {
			t.Fatal(err)
		}
		img, _ := png.Decode(bytes.NewReader(b))
		want := shade(colour).At(0, 0)
		r, g, bl, _ := want.RGBA()
		for y := range height * scale {
			for x := range width * scale {
				if a, b, c, _ := img.At(x, y).RGBA(); a == r && b == g && c == bl {
					dots++
					box = box.Union(image.Rect(x, y, x+1, y+1))
				}
			}
		}
		return dots, box
	}
	bars := Chart{Title: "t", X: "x", Y: "y", Bars: []Bar{{"one", 2, 0}}}
	dots, box := count(bars, colours[0])
	if want := (width - left - margin) * scale * 7 / 10; box.Dx() < want-2 {
		t.Errorf("a bar alone is %d dots wide, want %d: it has no legend beside it", box.Dx(), want)
	}
	if box.Dy() < (height-top-bottom)*scale*9/10 || dots < box.Dx()*box.Dy()*9/10 {
		t.Errorf("a bar up to the top: %d dots in %v", dots, box)
	}
	if dots, box := count(bars, black); dots < 100 || box.Min.X > 40 {
		t.Errorf("texts: %d black dots in %v, want those of both axes", dots, box)
	}
	curve := Chart{Curves: []Curve{{Name: "up", X: []float64{0, 1}, Y: []float64{0, 1}}}}
	if dots, box := count(curve, colours[0]); dots < 500 || box.Dx() < (width-left-right)*scale*9/10 ||
		box.Dy() < (height-top-bottom)*scale*9/10 {
		t.Errorf("a curve: %d dots in %v", dots, box)
	}
}

// Names of many bars do not run into each other, and an interval that goes below the axis ends there.
func TestManyBarsAreReadable(t *testing.T) {
	c := Chart{X: "kind"}
	for _, name := range strings.Fields("digest poll state offer accept refuse beat drop result result_ack " +
		"ask hold held hit query call give") {
		c.Bars = append(c.Bars, Bar{Name: name, Value: 3, Half: 20})
	}
	var d placed
	c.draw(&d)
	for i, a := range d.texts {
		for _, b := range d.texts[:i] {
			if a.y == b.y && math.Abs(a.x-b.x) < letter*float64(len(a.s)+len(b.s))/2 {
				t.Errorf("%q and %q stand in each other", a.s, b.s)
			}
		}
		if a.y > height {
			t.Errorf("%q is below the picture", a.s)
		}
	}
	if d.lowest > height-bottom {
		t.Errorf("a line goes down to %g, below the axis at %d", d.lowest, height-bottom)
	}
}

// Of many curves no two look alike, each looks in the legend as it is drawn, and the legend stays within the picture.
func TestManyCurvesAreToldApart(t *testing.T) {
	c := Chart{}
	for n := range 5 * len(colours) {
		c.Curves = append(c.Curves, Curve{Name: fmt.Sprint("policy-", n), X: []float64{0, 1}, Y: []float64{0, float64(n)}})
	}
	var d placed
	c.draw(&d)
	seen := map[string]bool{}
	for k := 0; k < len(d.curves); k += 2 {
		if look := d.curves[k]; seen[look] || d.curves[k+1] != look {
			t.Errorf("curve %d looks like %s, as %s in the legend", k/2, look, d.curves[k+1])
		}
		seen[d.curves[k]] = true
	}
	if len(d.curves) != 2*len(c.Curves) || d.lowest > height-5 {
		t.Errorf("%d curves, and the legend goes down to %g", len(d.curves)/2, d.lowest)
	}
	wellFormed(t, c.SVG())
	names := Chart{Curves: []Curve{{Name: "hyper-parameter-search-of-resnet-50"},
		{Name: strings.Repeat("tüning-of-", 12)}}}
	b, err := names.PNG()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(names.SVG(), ">tüning-of-tüning-of-tüning-of-tüning-of-tün…<") {
		t.Error("a name that is too long for the least size is not cut")
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	for y := range height * scale {
		if r, _, _, _ := img.At(width*scale-2, y).RGBA(); r < 0x8000 {
			t.Fatalf("a long name runs out of the picture, at %d", y)
		}
	}
	dashed := Chart{Curves: make([]Curve, len(colours)+1)}
	dashed.Curves[len(colours)] = Curve{X: []float64{0, 0.5, 1}, Y: []float64{0, 0.5, 1}}
	if share := covered(t, dashed, 0, 1); share < 0.55 || share > 0.85 {
		t.Errorf("a dashed line covers %.2f of the picture's width, want about 9 of 13", share)
	}
}

// A curve has a gap at what is no number, and goes on behind it as it was.
func TestCurveWithAGap(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		c := Chart{Curves: make([]Curve, len(colours)+1)} // the last is dashed
		c.Curves[len(colours)] = Curve{X: []float64{0, 1, 2, 3, 4}, Y: []float64{0, 1, bad, 3, 4}}
		for _, from := range []float64{0, 0.75} {
			if share := covered(t, c, from, from+0.25); share < 0.55 || share > 0.85 {
				t.Errorf("%g: a dashed line covers %.2f of the quarter from %g, want about 9 of 13", bad, share, from)
			}
		}
		if share := covered(t, c, 0.26, 0.74); share > 0 {
			t.Errorf("%g: a line covers %.2f of the gap", bad, share)
		}
		if svg := c.SVG(); strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Errorf("%g: it stands in the file", bad)
		}
	}
}

// covered is the share of the columns of a piece of the picture in which there are curves of the first colour.
func covered(t *testing.T, c Chart, from, to float64) float64 {
	t.Helper()
	b, err := c.PNG()
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	const long = (width - left - right) * scale
	r, g, bl, _ := shade(colours[0]).At(0, 0).RGBA()
	columns := 0
	for x := int(from * long); x < int(to*long); x++ {
		for y := range height * scale {
			if r1, g1, b1, _ := img.At(left*scale+x, y).RGBA(); r1 == r && g1 == g && b1 == bl {
				columns++
				break
			}
		}
	}
	return float64(columns) / ((to - from) * long)
}

// placed notes where texts in the middle stand, and how far down lines go.
type placed struct {
	texts []struct {
		x, y float64
		s    string
	}
	curves []string // as they look
	lowest float64
}

func (p *placed) box(x, y, w, h float64, colour string) {}
func (p *placed) curve(x, y []float64, colour string, dash []float64) {
	p.curves = append(p.curves, fmt.Sprint(colour, dash))
	p.lowest = max(p.lowest, slices.Max(y))
}
func (p *placed) line(x1, y1, x2, y2 float64, _ string) { p.lowest = max(p.lowest, y1, y2) }
func (p *placed) text(x, y float64, a anchor, _ float64, upright bool, s string) {
	if a == middle && !upright {
		p.texts = append(p.texts, struct {
			x, y float64
			s    string
		}{x, y, s})
	}
}

// A point with an interval is marked and has a bar from end to end, which on a logarithmic axis ends above 0; points
// alone are not joined, and names stand in the place of numbers.
func TestIntervals(t *testing.T) {
	c := Chart{LogY: true, Names: []string{"plane", "ring"}, Curves: []Curve{
		{Name: "a", X: []float64{0, 1}, Y: []float64{10, 100}, Half: []float64{1, 200}, Points: true}}}
	svg := c.SVG()
	wellFormed(t, svg)
	if n := strings.Count(svg, `width="6.0" height="6.0"`); n != 3 {
		t.Errorf("%d marks, want one for each point and one in the legend", n)
	}
	if n := strings.Count(svg, `stroke="`+colours[0]); n != 2 || strings.Contains(svg, "<polyline") {
		t.Errorf("%d lines in the curve's colour, want two intervals and no curve", n)
	}
	if !strings.Contains(svg, ">plane<") || !strings.Contains(svg, ">ring<") || !strings.Contains(svg, ">100<") {
		t.Error("want names below the points, and powers of ten beside them")
	}
	if low, high := c.Curves[0].interval(1, true); low != 10 || high != 300 {
		t.Errorf("an interval from %g to %g, want 10 to 300", low, high)
	}
	c.Curves[0].Points = false
	if n := strings.Count(c.SVG(), "<polyline"); n != 2 {
		t.Errorf("%d curves, want it and its entry in the legend", n)
	}
}

// A value that a logarithmic axis does not have leaves a gap.
func TestLogarithmHasNoZero(t *testing.T) {
	for name, c := range map[string]Chart{
		"X": {LogX: true, Curves: []Curve{{X: []float64{1, 2, 0, 3, 4}, Y: []float64{1, 2, 3, 4, 5}}}},
		"Y": {LogY: true, Curves: []Curve{{X: []float64{1, 2, 3, 4, 5}, Y: []float64{1, 2, 0, 3, 4}}}},
	} {
		if n := strings.Count(c.SVG(), "<polyline"); n != 3 || strings.Contains(c.SVG(), "NaN") {
			t.Errorf("%s: %d curves, want the two pieces and the entry in the legend", name, n)
		}
	}
}
