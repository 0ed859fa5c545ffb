package v1

import (
	"fmt"
	"slices"
	"strings"

	"skep/grid"
	"skep/internal/indices"
)

// Array gives a job's tasks values. There is a task for each combination: indices are the slowest, then lines, then the
// variables of the matrix in their order, the last one varying fastest.
type Array struct {
	Indices string      `json:"indices,omitempty" doc:"Values of SKEP_INDEX, as in 0-9,12,20-30:2."`
	Lines   *Lines      `json:"lines,omitempty" doc:"Values of SKEP_LINE."`
	Matrix  []Variable  `json:"matrix,omitempty" doc:"Variables and their values."`
	Inputs  []TaskInput `json:"inputs,omitempty" doc:"Inputs that only some tasks have, ordered by input."`
}

// Lines are values in a file among the inputs.
type Lines struct {
	Path  string `json:"path" doc:"Of the input."`
	Count uint32 `json:"count" doc:"Number of its lines."`
}

// Variable is a variable of a matrix.
type Variable struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// TaskInput says that an input is only for tasks with one value of a variable.
type TaskInput struct {
	Input    uint32 `json:"input" doc:"Position in inputs, from 0."`
	Variable string `json:"variable"`
	Value    uint32 `json:"value" doc:"Position among its values, from 0."`
}

// Names returns the names of the variables in the order of the combinations.
func (a *Array) Names() (names []string) {
	if a == nil {
		return nil
	}
	if a.Indices != "" {
		names = append(names, grid.IndexVariable)
	}
	if a.Lines != nil {
		names = append(names, grid.LineVariable)
	}
	for _, v := range a.Matrix {
		names = append(names, v.Name)
	}
	return names
}

// String returns the variables for people, each with the number of its values.
func (a *Array) String() string {
	if a == nil {
		return ""
	}
	g, err := a.grid()
	if err != nil {
		return err.Error()
	}
	var parts []string
	for i := range g.Axes {
		parts = append(parts, fmt.Sprintf("%s (%d)", g.Axes[i].Name, g.Axes[i].Len()))
	}
	return strings.Join(parts, " × ")
}

// grid converts an array.
func (a *Array) grid() (*grid.Array, error) {
	g := &grid.Array{}
	if a.Indices != "" {
		set, err := indices.Parse(a.Indices, grid.MaxCount)
		if err != nil {
			return nil, fmt.Errorf("array %w", err)
		}
		g.Axes = append(g.Axes, grid.Axis{Name: grid.IndexVariable, Indices: set})
	}
	if a.Lines != nil {
		g.Axes = append(g.Axes, grid.Axis{Name: grid.LineVariable, Lines: a.Lines.Path, Count: a.Lines.Count})
	}
	for _, v := range a.Matrix {
		g.Axes = append(g.Axes, grid.Axis{Name: v.Name, Values: v.Values})
	}
	names := a.Names()
	for _, in := range a.Inputs {
		at := slices.Index(names, in.Variable)
		if at < 0 {
			return nil, fmt.Errorf("array: input %d is for a value of %.40q: want one of its variables", in.Input, in.Variable)
		}
		g.Inputs = append(g.Inputs, grid.TaskInput{Input: in.Input, Axis: uint32(at), Value: in.Value})
	}
	return g, nil
}

// array adds the array, the number of its tasks and what it needs of nodes.
func (s *Spec) array(g *grid.JobSpec) (err error) {
	if s.Array != nil {
		if g.Array, err = s.Array.grid(); err != nil {
			return err
		}
		if s.Count == 0 {
			g.Count = uint32(min(g.Array.Len(), grid.MaxCount))
		}
	}
	if g.NeedsArrays() {
		g.Needs.AddFeature(grid.ArrayLabel)
	}
	return nil
}

// arrayOf is the inverse of Array.grid.
func arrayOf(g *grid.Array) *Array {
	if g == nil {
		return nil
	}
	a := &Array{}
	for i := range g.Axes {
		switch x := &g.Axes[i]; {
		case x.Indices != nil:
			a.Indices = x.Indices.String()
		case x.Lines != "":
			a.Lines = &Lines{x.Lines, x.Count}
		default:
			a.Matrix = append(a.Matrix, Variable{x.Name, x.Values})
		}
	}
	for _, in := range g.Inputs {
		if int64(in.Axis) < int64(len(g.Axes)) {
			a.Inputs = append(a.Inputs, TaskInput{in.Input, g.Axes[in.Axis].Name, in.Value})
		}
	}
	return a
}
