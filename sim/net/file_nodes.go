package net

import (
	"fmt"
	"time"

	"github.com/goccy/go-yaml/ast"

	"skep/document"
	"skep/grid"
	"skep/node"
	"skep/requirement"
	"skep/sim"
)

// group parses a group of machines.
func (f *scenarioFile) group(i int, n ast.Node) {
	g := Group{Name: fmt.Sprint("group-", i), Count: 1, Cores: 1, Memory: 4 * grid.GiB, Speed: 1}
	for _, e := range f.Mapping(n, "nodes", "name", "count", "cpus", "memory", "speed", "rates", "labels", "resources",
		"session", "away", "leaves", "availability", "hostile", "load", "site", "ranks",
		"accept") {
		switch e.Key {
		case "name":
			f.Value(e, func(t string) error { g.Name = t; return nil })
		case "count":
			f.Number(e, 1, MaxNodes, func(n int64) { g.Count = int(n) })
		case "cpus":
			f.Value(e, func(t string) error {
				cores, err := document.ParseCores(t)
				if err == nil {
					g.Cores = cores
				}
				return err
			})
		case "memory":
			f.size(e, &g.Memory)
		case "speed":
			f.real(e, 1e-6, 1e6, &g.Speed)
		case "rates":
			g.Rates = map[string]float64{}
			for _, r := range f.Mapping(e.Value, "rates") {
				x := 1.0 // an invalid rate must not count as a missing one as well
				f.real(r, 0, grid.MaxRate, &x)
				g.Rates[r.Key] = x
			}
		case "labels":
			g.Labels = f.labels(e)
		case "resources":
			f.counts(e, &g.Counts)
		case "accept":
			g.Accept = f.expression(e, requirement.Accept)
		case "hostile":
			g.Hostile = f.behaviours(e)
		case "load":
			f.load(e, &g.Load)
		case "site":
			f.Value(e, func(t string) error { g.Site = t; return nil })
		case "ranks":
			f.size(e, &g.Port)
		case "session":
			g.Up = f.distribution(e)
		case "away":
			g.Down = f.distribution(e)
		case "availability":
			f.real(e, 0.001, 1, &g.Left)
		case "leaves":
			f.real(e, 0, 1, &g.Leaves)
		}
	}
	if g.Up.Kind == NoSpan && g.Down.Kind != NoSpan {
		f.At(n, "nodes: away without session: want both, or neither")
	}
	if g.Up.Kind == NoSpan && g.Leaves > 0 {
		f.At(n, "nodes: leaves without session: want how long one lasts")
	}
	if g.Up.Kind != NoSpan && g.Down.Kind == NoSpan {
		g.Down = Span{Kind: Exponential, A: time.Minute}
	}
	f.s.Groups = append(f.s.Groups, g)
}

// behaviours parses the behaviours of hostile nodes.
func (f *scenarioFile) behaviours(e document.Entry) (all sim.Behaviour) {
	for _, name := range f.Texts(e.Value, e.Key) {
		b, err := sim.ParseBehaviour(name)
		if err != nil {
			f.At(e.Value, "hostile %v", err)
		}
		all |= b
	}
	return all
}

// distribution parses the distribution of a duration: a scalar is constant.
func (f *scenarioFile) distribution(e document.Entry) (s Span) {
	if _, ok := e.Value.(ast.MapNode); !ok {
		s.Kind = Constant
		f.span(e, &s.A)
		return s
	}
	entries := f.Mapping(e.Value, e.Key, "constant", "uniform", "exponential", "weibull", "shape")
	for _, d := range entries {
		switch d.Key {
		case "constant":
			s.Kind = Constant
			f.span(d, &s.A)
		case "exponential":
			s.Kind = Exponential
			f.span(d, &s.A)
		case "weibull":
			s.Kind = Weibull
			f.span(d, &s.A)
		case "shape":
			f.real(d, 0.1, 100, &s.Exp)
		case "uniform":
			s.Kind = Uniform
			two := f.Texts(d.Value, d.Key)
			if len(two) != 2 || parseSpan(two[0], &s.A) != nil || parseSpan(two[1], &s.B) != nil || s.B < s.A {
				f.At(d.Value, "uniform: %v", errInterval)
				s.B = s.A
			}
		}
	}
	kinds := len(entries)
	if s.Exp > 0 {
		kinds-- // shape is no kind
	}
	if (s.Kind == Weibull) != (s.Exp > 0) || s.Kind == NoSpan || kinds > 1 {
		f.At(e.Value, "%s: want one of constant, uniform, exponential, or weibull with its shape", e.Key)
	}
	return s
}

// class parses a class.
func (f *scenarioFile) class(e document.Entry) {
	f.positions["classes."+e.Key] = e.Node
	c := Class{Name: e.Key, Size: sim.Exponential(), Retries: grid.MaxRetries,
		Needs: grid.Needs{Resources: grid.Resources{CPU: grid.CPU}}}
	for _, k := range f.Mapping(e.Value, "class", "mean", "size", "cpu", "memory", "labels", "resources", "retries",
		"inputs", "idempotent", "checkpoint", "bound", "fails", "on_failure", "priority", "deadline", "where",
		"rank", "reliability") {
		switch k.Key {
		case "mean":
			f.span(k, &c.Mean)
		case "size":
			if d := f.sizes(k); d != nil {
				c.Size = d
			}
		case "cpu":
			f.Value(k, func(t string) error {
				cores, err := document.ParseCores(t)
				if err == nil {
					c.Needs.CPU = grid.MilliCPU(cores*float64(grid.CPU) + 0.5)
				}
				return err
			})
		case "memory":
			f.size(k, &c.Needs.Memory)
		case "labels":
			for _, l := range f.Mapping(k.Value, "labels") {
				c.Needs.Labels = append(c.Needs.Labels, grid.LabelNeed{Key: l.Key, Values: f.Texts(l.Value, "labels "+l.Key)})
			}
		case "resources":
			f.counts(k, &c.Needs.Counts)
		case "retries":
			f.Number(k, 0, grid.MaxRetries, func(n int64) { c.Retries = int32(n) })
		case "inputs":
			f.size(k, &c.Inputs)
		case "idempotent":
			f.flag(k, &c.Idempotent)
		case "checkpoint":
			f.span(k, &c.Checkpoint)
		case "where":
			c.Needs.Where = f.expression(k, requirement.Where)
		case "rank":
			c.Rank = f.expression(k, requirement.Rank)
		case "reliability":
			f.Value(k, func(t string) (err error) { c.Reliability, err = grid.ParseReliability(t); return })
		case "priority":
			c.Terms.ReadPriority(&f.Reader, k)
		case "deadline":
			c.Terms.ReadDeadline(&f.Reader, k)
		case "fails":
			f.real(k, 0, 1, &c.Failing.Share)
		case "on_failure":
			f.onFailure(k, &c.Failing.Rule)
		case "bound":
			f.Value(k, func(t string) error {
				class, within, next, err := document.ParseBound(e.Key + "=" + t)
				f.s.Node.Bounds = append(f.s.Node.Bounds, node.Bound{Class: class, Time: within, Next: next})
				return err
			})
		}
	}
	if c.Needs.Counts != "" {
		c.Needs.AddFeature(grid.ResourceLabel)
	}
	if c.Needs.Where != nil {
		c.Needs.AddFeature(grid.RequirementLabel)
	}
	f.s.Classes = append(f.s.Classes, c)
}
