package gang

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"skep/document"
	"skep/gang/mapper"
	"skep/gang/model"
	"skep/grid"
	"skep/node/api/v1"
)

// Flag reads the value of the flag --ranks: a number of ranks, or the fewest and the most, as 2-16.
func Flag(text string) (*v1.Gang, error) {
	g := &v1.Gang{}
	least, most, ranged := strings.Cut(text, "-")
	n, err := strconv.ParseUint(least, 10, 32)
	g.Ranks = uint32(n)
	if ranged && err == nil {
		n, err = strconv.ParseUint(most, 10, 32)
		g.Ranks, g.Min, g.Max = 0, g.Ranks, uint32(n)
	}
	if err != nil || ranged && g.Min == 0 && g.Max == 0 {
		return nil, fmt.Errorf("%.40s: want a number from 1 to %d, or the fewest and the most, as 2-16", text, grid.MaxRanks)
	}
	if err := g.CheckSize(); err != nil {
		if !ranged {
			return nil, fmt.Errorf("%s: want 1 to %d", text, grid.MaxRanks)
		}
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	return g, nil
}

// Read reads the value of the key gang; nil where it has no ranks.
func Read(f *document.Reader, n ast.Node) *v1.Gang {
	g := &v1.Gang{}
	for _, x := range f.Mapping(n, "gang", "ranks", "min", "max", "ports", "model", "mapper", "conserve", "one_site",
		"contract") {
		switch x.Key {
		case "ranks":
			f.Number(x, 1, grid.MaxRanks, func(n int64) { g.Ranks = uint32(n) })
		case "min":
			f.Number(x, 1, grid.MaxRanks, func(n int64) { g.Min = uint32(n) })
		case "max":
			f.Number(x, 1, grid.MaxRanks, func(n int64) { g.Max = uint32(n) })
		case "ports":
			g.Ports = readPorts(f, x)
		case "model":
			g.Model = readModel(f, x.Value)
		case "mapper":
			g.Mapper, _ = f.Text(x.Value, "gang mapper")
			if _, err := mapper.New(g.Mapper); err != nil {
				f.At(x.Value, "gang: %v", err)
			}
		case "conserve":
			f.Value(x, func(t string) (err error) { g.Conserve, err = number(t, 1); return })
		case "one_site":
			f.Value(x, func(t string) (err error) { g.OneSite, err = document.ParseBool(t); return })
		case "contract":
			g.Contract = readContract(f, x.Value)
		}
	}
	if g.Ranks == 0 && g.Min == 0 && g.Max == 0 {
		if f.Invalid() == 0 {
			f.At(n, "gang: has no ranks: want a number of them, as in {ranks: 8} or {min: 2, max: 16}")
		}
		return nil
	}
	if err := g.CheckSize(); err != nil && f.Invalid() == 0 {
		f.At(n, "gang: %v", err)
	}
	if g.Model == nil && (g.Mapper != "" || g.Conserve != 0 || g.OneSite || g.Contract != nil) {
		f.At(n, "gang: has mapper, conserve, one_site or contract and no model: want one, as in {name: life, n: 2048}")
	}
	return g
}

// readPorts reads [29500, 29501].
func readPorts(f *document.Reader, e document.Entry) []int64 {
	before := f.Invalid()
	words := f.Texts(e.Value, "gang ports")
	all, err := parsePorts(words)
	if err != nil && f.Invalid() == before {
		f.At(e.Value, "gang ports: %v", err)
	}
	return all
}

// readContract reads {tolerance: 0.5, window: 10, moves: 3}.
func readContract(f *document.Reader, n ast.Node) *v1.Contract {
	c := &v1.Contract{}
	for _, x := range f.Mapping(n, "gang contract", "tolerance", "window", "moves") {
		switch x.Key {
		case "tolerance":
			f.Value(x, func(t string) error {
				part, err := number(t, grid.MaxTolerance)
				c.Tolerance = &part
				return err
			})
		case "window":
			f.Number(x, 1, grid.MaxWindow, func(n int64) { k := uint32(n); c.Window = &k })
		case "moves":
			f.Number(x, 0, grid.MaxMoves, func(n int64) { k := uint32(n); c.Moves = &k })
		}
	}
	return c
}

// readModel reads {name: life, n: 2048, …}: all keys but name and measured are parameters.
func readModel(f *document.Reader, n ast.Node) *v1.Model {
	m := &v1.Model{Parameters: map[string]float64{}}
	before := f.Invalid()
	for _, x := range f.Mapping(n, "gang model") {
		switch x.Key {
		case "name":
			m.Name, _ = f.Text(x.Value, "gang model name")
		case "measured":
			m.Measured = readMeasured(f, x.Value)
		default:
			f.Value(x, func(t string) (err error) { m.Parameters[x.Key], err = number(t, math.MaxFloat64); return })
		}
	}
	if f.Invalid() > before {
		return m
	}
	var rows []model.Measurement
	for _, r := range m.Measured {
		rows = append(rows, model.Measurement{Ranks: int(r.Ranks), Compute: r.Compute, Message: r.Message})
	}
	if _, err := model.New(m.Name, m.Parameters, rows); err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			f.At(n, "gang: %s", line)
		}
	}
	return m
}

func readMeasured(f *document.Reader, n ast.Node) (all []v1.Measured) {
	list, ok := n.(*ast.SequenceNode)
	if !ok || len(list.Values) > grid.MaxMeasured {
		f.At(n, "gang model measured: want a list of up to %d, as in [{ranks: 2, compute: 1.5, message: 0.1}]",
			grid.MaxMeasured)
		return nil
	}
	for _, v := range list.Values {
		var m v1.Measured
		for _, x := range f.Mapping(v, "gang model measured", "ranks", "compute", "message") {
			switch x.Key {
			case "ranks":
				f.Number(x, 1, grid.MaxRanks, func(n int64) { m.Ranks = uint32(n) })
			case "compute":
				f.Value(x, func(t string) (err error) { m.Compute, err = number(t, math.MaxFloat64); return })
			case "message":
				f.Value(x, func(t string) (err error) { m.Message, err = number(t, math.MaxFloat64); return })
			}
		}
		all = append(all, m)
	}
	return all
}

func number(t string, most float64) (float64, error) {
	x, err := strconv.ParseFloat(t, 64)
	switch {
	case (err != nil || !(x >= 0 && x <= most)) && most < math.MaxFloat64:
		return 0, fmt.Errorf("%.40q: want a number from 0 to %g", t, most)
	case err != nil || !(x >= 0 && x <= most):
		return 0, errors.New(strconv.Quote(t[:min(len(t), 40)]) + ": want a number from 0 on")
	}
	return x, nil
}

// Text says what a gang is.
func Text(g *v1.Gang) string {
	s := fmt.Sprintf("%d ranks, which start together", g.Ranks)
	if g.Max > 0 {
		s = fmt.Sprintf("%d to %d ranks, which start together", g.Min, g.Max)
	}
	if len(g.Ports) > 0 {
		s += ", and reach each other on fixed ports only"
	}
	if g.Model != nil {
		s += ", on the nodes that the model " + g.Model.Name + " says are best"
	}
	return s
}
