package net

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"skep/document"
	"skep/grid"
	"skep/requirement"
	"skep/sim"
)

// counts parses numbers of counted resources by kind.
func (f *scenarioFile) counts(e document.Entry, dst *grid.Counts) {
	var parts []string
	for _, k := range f.Mapping(e.Value, e.Key) {
		f.Number(k, 0, grid.MaxUnits, func(n int64) { parts = append(parts, fmt.Sprintf("%s=%d", k.Key, n)) })
	}
	c, err := grid.ParseCounts(strings.Join(parts, ","))
	if err != nil {
		f.At(e.Value, "%s: %v", e.Key, err)
	}
	*dst = c
}

// load parses {left: 0.5, busy: 30s, free: 2m}.
func (f *scenarioFile) load(e document.Entry, dst *Load) {
	before := f.Invalid()
	for _, k := range f.Mapping(e.Value, "load", "left", "busy", "free") {
		switch k.Key {
		case "left":
			f.real(k, 0.001, 1, &dst.Left)
		case "busy":
			f.span(k, &dst.Busy)
		case "free":
			f.span(k, &dst.Free)
		}
	}
	if f.Invalid() == before && (dst.Left == 0 || dst.Busy <= 0 || dst.Free <= 0) {
		f.At(e.Value, "load: want left, busy and free, as in {left: 0.5, busy: 30s, free: 2m}")
	}
}

const wantSizes = "exponential, deterministic, {hyperexponential: SCV}, {uniform: LOW} or {loguniform: RATIO}"

// sizes parses the distribution of task sizes, of mean 1.
func (f *scenarioFile) sizes(e document.Entry) sim.Distribution {
	if t, ok := e.Value.(*ast.StringNode); ok {
		switch t.Value {
		case "exponential":
			return sim.Exponential()
		case "deterministic":
			return sim.Deterministic()
		}
		f.At(e.Value, "size %q: want %s", t.Value, wantSizes)
		return nil
	}
	var d sim.Distribution
	entries := f.Mapping(e.Value, "size", "hyperexponential", "uniform", "loguniform")
	if len(entries) > 1 || e.Value.Type() == ast.MappingType && len(entries) == 0 {
		f.At(e.Value, "size: %d distributions: want %s", len(entries), wantSizes)
	}
	for _, k := range entries {
		x := 1.0
		switch k.Key {
		case "hyperexponential":
			f.real(k, 1, 1e6, &x)
			d = sim.Hyperexponential(x)
		case "uniform":
			f.real(k, 0, 1, &x)
			d = sim.UniformSize(x)
		case "loguniform":
			x = 10 // if it is invalid
			f.real(k, 1.001, 1e6, &x)
			d = sim.LogUniform(x)
		}
	}
	return d
}

// expression parses an expression about nodes or jobs.
func (f *scenarioFile) expression(e document.Entry, use requirement.Use) (x *requirement.Expression) {
	f.Value(e, func(t string) (err error) {
		if x, err = requirement.Parse(t, use); err == nil && x.AsksTime() {
			err = errors.New("asks for the time: want none of it, as the nodes of a scenario have no hours")
		}
		return err
	})
	return x
}

// overhead reads what each start costs.
func (f *scenarioFile) overhead(e document.Entry) {
	if f.span(e, &f.s.Overhead); f.s.Overhead < time.Microsecond || f.s.Overhead > time.Hour {
		f.At(e.Value, "overhead %v: want 1µs to 1h", f.s.Overhead)
	}
}
