package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
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
		"empty":    {Title: "<none> & nothing"},
		"curves":   {Title: "t", Log: true, Curves: []Curve{{Name: "a<b", X: []float64{0, 0.01, 100}, Y: []float64{0, 0.5, 1}}, {Name: "empty"}}},
		"one":      {Curves: []Curve{{X: []float64{3}, Y: []float64{3}}}},
		"bars":     {Bars: []Bar{{"x", 3, 1}, {"y", 0, 0}}},
		"nonsense": {Bars: []Bar{{"x", math.NaN(), 0}}},
	} {
		svg := c.SVG()
		wellFormed(t, svg)
		if name != "nonsense" && strings.Contains(svg, "NaN") {
			t.Errorf("%s: has a NaN", name)
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
