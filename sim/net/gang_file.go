package net

import (
	"fmt"
	"math"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"skep/document"
	"skep/gang/mapper"
	"skep/grid"
	"skep/sim"
)

// gang parses the key gang of a stream: {ranks: 6, iterations: 200, model: {name: life, n: 2000}}. One that is
// invalid has no ranks.
func (f *scenarioFile) gang(e document.Entry) *Gang {
	g := &Gang{}
	before := f.Invalid()
	var at ast.Node
	for _, k := range f.Mapping(e.Value, "gang", "ranks", "iterations", "model", "mapper", "conserve", "one_site") {
		switch k.Key {
		case "ranks":
			f.Number(k, 1, grid.MaxRanks, func(n int64) { g.Ranks = int(n) })
		case "iterations":
			f.Number(k, 1, maxIterations, func(n int64) { g.Iterations = int(n) })
		case "model":
			at = k.Value
			g.Parameters = map[string]float64{}
			for _, p := range f.Mapping(k.Value, "gang model") {
				if p.Key == "name" {
					g.Model, _ = f.Text(p.Value, "gang model name")
					continue
				}
				x := 0.0
				f.real(p, 0, math.MaxFloat64, &x)
				g.Parameters[p.Key] = x
			}
		case "mapper":
			g.Mapper, _ = f.Text(k.Value, "gang mapper")
			if _, err := mapper.New(g.Mapper); err != nil {
				f.At(k.Value, "gang: %v", err)
			}
		case "conserve":
			f.real(k, 0, 1, &g.Conserve)
		case "one_site":
			f.flag(k, &g.OneSite)
		}
	}
	if f.Invalid() > before {
		return &Gang{}
	}
	if g.Ranks == 0 || g.Iterations == 0 || at == nil {
		f.At(e.Value, "gang: want ranks, iterations and a model, as in "+
			"{ranks: 6, iterations: 200, model: {name: life, n: 2000}}")
		return &Gang{}
	}
	if err := g.complete(); err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			f.At(at, "gang: %s", line)
		}
		return &Gang{}
	}
	return g
}

// gangClasses gives the classes of gangs their run times, which follow from the models.
func (f *scenarioFile) gangClasses() {
	for k := range f.s.Streams {
		st := &f.s.Streams[k]
		c := f.s.class(st.Class)
		if st.Gang != nil && st.Gang.Ranks == 0 {
			st.Gang, f.unreadable["classes."+st.Class] = nil, true // no more is said of them
		}
		if st.Gang == nil || c == nil {
			continue
		}
		what := ""
		switch {
		case c.Mean > 0 && c.Mean != grid.Seconds(st.Gang.work()):
			what = "mean"
		case c.Failing.Share > 0:
			what = "fails"
		case c.Idempotent:
			what = "idempotent"
		}
		if n := f.positions["classes."+c.Name]; what != "" && n != nil {
			f.At(n, "classes.%s: has %s: want none in the class of a gang, whose model says how it runs", c.Name, what)
		}
		c.Mean, c.Size = max(grid.Seconds(st.Gang.work()), 1), sim.Deterministic()
	}
	for _, class := range sortedKeys(f.s.gangs()) {
		for k := range f.s.Groups {
			if _, is := f.s.Groups[k].Rates[class]; is {
				f.At(f.positions[fmt.Sprint("nodes.", k)], "rates of %s: want none for the class of a gang, "+
					"whose ranks run by the speed", class)
			}
		}
	}
}
