package net

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"skep/document"
	"skep/grid"
	"skep/node"
	"skep/sim"
)

// group parses a group of machines.
func (f *scenarioFile) group(i int, n ast.Node) {
	g := Group{Name: fmt.Sprint("group-", i), Count: 1, Cores: 1, Memory: 4 * grid.GiB, Speed: 1}
	for _, e := range f.Mapping(n, "nodes", "name", "count", "cpus", "memory", "speed", "rates", "labels", "resources",
		"session", "away", "leaves", "availability", "hostile", "load", "site") {
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
		case "hostile":
			g.Hostile = f.behaviours(e)
		case "load":
			f.load(e, &g.Load)
		case "site":
			f.Value(e, func(t string) error { g.Site = t; return nil })
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
		"inputs", "idempotent", "bound", "fails", "on_failure", "priority", "deadline") {
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
	f.s.Classes = append(f.s.Classes, c)
}

// sizes parses the distribution of task sizes, of mean 1.
func (f *scenarioFile) sizes(e document.Entry) sim.Distribution {
	if t, ok := e.Value.(*ast.StringNode); ok {
		switch t.Value {
		case "exponential":
			return sim.Exponential()
		case "deterministic":
			return sim.Deterministic()
		}
		f.At(e.Value, "size %q: want exponential, deterministic, {hyperexponential: SCV} or {uniform: LOW}", t.Value)
		return nil
	}
	var d sim.Distribution
	entries := f.Mapping(e.Value, "size", "hyperexponential", "uniform")
	if len(entries) > 1 || e.Value.Type() == ast.MappingType && len(entries) == 0 {
		f.At(e.Value, "size: %d distributions: want exponential, deterministic, {hyperexponential: SCV} or {uniform: LOW}",
			len(entries))
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
		}
	}
	return d
}

// pick parses the nodes of a fault: all, a group, group/FROM-TO, a share as 10%, or group/10%.
func pick(t string) (p Pick, err error) {
	p.From, p.To = -1, -1
	group, part, both := strings.Cut(t, "/")
	if !both && (strings.HasSuffix(t, "%") || t == "all") {
		group, part = "", t
	}
	p.Group = group
	switch {
	case part == "" && !both, part == "all":
	case strings.HasSuffix(part, "%"):
		share, perr := strconv.ParseFloat(strings.TrimSuffix(part, "%"), 64)
		if p.Share = share / 100; perr != nil || !(p.Share > 0 && p.Share <= 1) {
			err = fmt.Errorf("%.60q: want a share of more than 0%%, at most 100%%", t)
		}
	default:
		lo, hi, ranged := strings.Cut(part, "-")
		if !ranged {
			hi = lo
		}
		var e1, e2 error
		p.From, e1 = strconv.Atoi(lo)
		p.To, e2 = strconv.Atoi(hi)
		if e1 != nil || e2 != nil || p.From < 0 || p.To < p.From {
			err = fmt.Errorf("%.60q: want GROUP, GROUP/FROM-TO with positions from 0, GROUP/10%%, 10%% or all", t)
		}
	}
	return p, err
}
