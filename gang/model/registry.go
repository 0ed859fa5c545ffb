package model

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"skep/gang"
)

// Parameter is a number that a model is told.
type Parameter struct {
	Name     string
	What     string  // its meaning and unit
	Default  float64 // where Required is false
	Required bool
	Least    float64
	Whole    bool // it has to be a whole number
}

// parameters are values by name, all that the model has.
type parameters map[string]float64

// kind is a model by name.
type kind struct {
	name   string
	wants  []Parameter
	create func(p parameters, rows []Measurement) (gang.Model, error)
}

// MaxUnits bounds into how many parts work may be divided.
const MaxUnits = 1 << 30

var (
	points = Parameter{Name: "n", What: "points on a side of the mesh", Required: true, Least: 1, Whole: true}
	memo   = Parameter{Name: "point_memory", What: "bytes of a mesh point", Default: 8}
	margin = Parameter{Name: "margin", What: "part of the memory that is wanted besides", Default: 0.2}
	units  = Parameter{Name: "units", What: "equal parts of the work", Required: true, Least: 1, Whole: true}
	unit   = Parameter{Name: "unit_memory", What: "bytes of a part"}
	delay  = Parameter{Name: "latency", What: "by how much the latency of a link counts for each message: 0, or 1 for all"}
)

// kinds has the defaults of the theses' experiments: 72 and 36 cycles a point, messages of 4 and 8 bytes for each.
var kinds = []kind{
	{"jacobi", []Parameter{points, memo, margin, cost(36), bytes(8), delay, {Name: "whole_rounds",
		What: "1: the depth of a broadcast is rounded up", Whole: true}},
		func(p parameters, _ []Measurement) (gang.Model, error) {
			return newJacobi(p.mesh(), p["whole_rounds"] > 0), nil
		}},
	{"life", []Parameter{points, memo, margin, cost(72), bytes(4), delay},
		func(p parameters, _ []Measurement) (gang.Model, error) { return &life{p.mesh()}, nil }},
	{"memory", []Parameter{units, unit, margin}, func(p parameters, _ []Measurement) (gang.Model, error) {
		return &memory{int(p["units"]), p["unit_memory"], p["margin"]}, nil
	}},
	{"table", []Parameter{units, unit, margin, {Name: "speed", What: "of the machines measured, as machines tell theirs",
		Default: 1, Least: math.SmallestNonzeroFloat64}}, newTable},
}

func cost(cycles float64) Parameter {
	return Parameter{Name: "point_cost", What: "work of a point in an iteration, in the unit of the machines' speeds",
		Default: cycles, Least: math.SmallestNonzeroFloat64}
}

func bytes(n float64) Parameter {
	return Parameter{Name: "value_bytes", What: "bytes of a message for each point", Default: n}
}

func (p parameters) mesh() mesh {
	return mesh{n: int(p["n"]), pointMemory: p["point_memory"], margin: p["margin"], pointCost: p["point_cost"],
		valueBytes: p["value_bytes"], latency: p["latency"]}
}

// Names lists the models.
func Names() (all []string) {
	for k := range kinds {
		all = append(all, kinds[k].name)
	}
	return all
}

// Parameters lists what a model may be told; none of one that there is not.
func Parameters(name string) []Parameter {
	for k := range kinds {
		if kinds[k].name == name {
			return slices.Clone(kinds[k].wants)
		}
	}
	return nil
}

// New makes a model by its name. Parameters that are left out have their defaults; rows are of the model table alone.
// All problems are told at once, a line each.
func New(name string, told map[string]float64, rows []Measurement) (gang.Model, error) {
	at := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if at < 0 {
		return nil, fmt.Errorf("model %.80q: is not known: want one of %s", name, strings.Join(Names(), ", "))
	}
	k := &kinds[at]
	values, errs := k.values(told)
	if len(rows) > 0 && name != "table" {
		errs = append(errs, fmt.Errorf("model %s: has measurements: they are of the model table", name))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return k.create(values, rows)
}

// holds reports whether a value is one that the parameter may have.
func (w *Parameter) holds(x float64) bool {
	return finite(x) && x >= w.Least && x <= MaxUnits*MaxUnits && (!w.Whole || x == float64(int(x)) && x <= MaxUnits)
}

// values checks what the model is told.
func (k *kind) values(told map[string]float64) (values parameters, errs []error) {
	values = parameters{}
	var names, unknown []string
	for _, w := range k.wants {
		names = append(names, w.Name)
		x, given := told[w.Name]
		if !given {
			x = w.Default
		}
		values[w.Name] = x
		switch {
		case !given && w.Required:
			errs = append(errs, fmt.Errorf("model %s: %s: is not given: want %s", k.name, w.Name, w.What))
		case given && !w.holds(x):
			errs = append(errs, fmt.Errorf("model %s: %s: %g: want %s", k.name, w.Name, x, w.What))
		}
	}
	for name := range told {
		if !slices.Contains(names, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		errs = append(errs, fmt.Errorf("model %s: %.80q: is not known: want one of %s", k.name, name,
			strings.Join(names, ", ")))
	}
	return values, errs
}
