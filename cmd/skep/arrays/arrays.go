package arrays

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"skep/grid"
	v1 "skep/node/api/v1"
)

// LinesPath is the path of the lines among a job's inputs. A task has its own line and not the file.
const LinesPath = ".skep-lines"

// ParseVariable parses NAME=A,B.
func ParseVariable(text string) (v v1.Variable, err error) {
	name, values, ok := strings.Cut(text, "=")
	if !ok || !grid.ValidVariable(name) {
		return v, fmt.Errorf("%.80q: want NAME=VALUE,VALUE, as in seed=1,2: a name of letters, digits and _ that begins "+
			"with no digit and no SKEP_", text)
	}
	return v1.Variable{Name: name, Values: strings.Split(values, ",")}, nil
}

// Lines reads the values of SKEP_LINE: the lines that are not empty, without their ends.
func Lines(r io.Reader) ([]string, error) {
	b, err := io.ReadAll(io.LimitReader(r, int64(grid.MaxLines)+1))
	if err != nil {
		return nil, err
	}
	if len(b) > int(grid.MaxLines) {
		return nil, fmt.Errorf("is larger than %d MiB: want a shorter file", grid.MaxLines/grid.MiB)
	}
	var lines []string
	number := 0
	for line := range bytes.Lines(b) {
		number++
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case len(line) == 0:
			continue
		case len(line) > int(grid.MaxValue):
			return nil, fmt.Errorf("line %d has %d bytes: want at most %d", number, len(line), grid.MaxValue)
		case bytes.IndexByte(line, 0) >= 0 || !utf8.Valid(line):
			return nil, fmt.Errorf("line %d is no text: want UTF-8 without zero bytes", number)
		case len(lines) == grid.MaxCount:
			return nil, fmt.Errorf("has more than %d lines: want at most that many tasks", grid.MaxCount)
		}
		lines = append(lines, string(line))
	}
	if len(lines) == 0 {
		return nil, errors.New("has no line: want one for each task")
	}
	return lines, nil
}

// Content is the file from which Lines reads these lines.
func Content(lines []string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }

// Values is a job's array with the lines in it.
type Values struct {
	spec  *v1.Spec
	array *grid.Array // that of the spec; nil = there is something wrong with it, as a check says
	lines []string
}

// Lines returns the values of SKEP_LINE; none if it is no variable of the job.
func (v *Values) Lines() []string { return v.lines }

// Apply adds an array of indices, lines and variables to a spec, and its number of tasks.
func Apply(spec *v1.Spec, indices string, lines []string, matrix []v1.Variable) *Values {
	a := &v1.Array{Indices: indices, Matrix: matrix}
	if len(lines) > 0 {
		a.Lines = &v1.Lines{Path: LinesPath, Count: uint32(len(lines))}
	}
	spec.Array = a
	v := &Values{spec: spec, lines: lines}
	if g, err := spec.Grid(); err == nil {
		v.array, spec.Count = g.Array, uint32(min(g.Array.Len(), grid.MaxCount))
	}
	return v
}

// OfIndex returns values for a job without an array, if one of its inputs is named by the index.
func OfIndex(spec *v1.Spec, inputs []string) *Values {
	if !slices.ContainsFunc(inputs, func(in string) bool { return grid.Refers(in, grid.IndexVariable) }) {
		return nil
	}
	return Apply(spec, fmt.Sprintf("0-%d", max(spec.Count, 1)-1), nil, nil)
}

// axis returns the values of a variable.
func (v *Values) axis(name string) (values []string) {
	a := v.spec.Array
	switch name {
	case grid.LineVariable:
		return v.lines
	case grid.IndexVariable:
		if v.array == nil {
			return nil
		}
		for i := range v.array.Axes[0].Len() {
			values = append(values, strconv.FormatUint(uint64(v.array.Axes[0].Indices.At(i)), 10))
		}
		return values
	}
	at := slices.IndexFunc(a.Matrix, func(x v1.Variable) bool { return x.Name == name })
	return a.Matrix[at].Values
}

// Of returns the values of one task, in the order of the combinations.
func (v *Values) Of(task uint32) []grid.Var {
	if v.array == nil {
		return nil
	}
	line := ""
	if at := v.array.Line(task); at >= 0 {
		line = v.lines[at]
	}
	return v.array.Values(task, line)
}

// Input is an input with values in it, and the tasks that have it.
type Input struct {
	Path  string // of the submitter, or a hash
	Name  string // in the work folder, if Named
	Named bool
	Only  []v1.TaskInput // without the input's position
}

// ParseInput parses PATH[=NAME].
func ParseInput(text string) (in Input) {
	in.Path, in.Name, in.Named = strings.Cut(text, "=")
	return in
}

// String returns PATH[=NAME].
func (in *Input) String() string {
	if in.Named {
		return in.Path + "=" + in.Name
	}
	return in.Path
}

// Inputs returns what an input stands for: itself, or one for each combination of the values that it names.
func (v *Values) Inputs(text string) (all []Input, err error) {
	raw := ParseInput(text)
	err = v.combinations(text, grid.MaxFiles, func(vars []grid.Var, only []v1.TaskInput) (err error) {
		in := Input{Named: raw.Named, Only: slices.Clone(only)}
		if in.Path, err = grid.Expand(raw.Path, vars, grid.MaxPath); err == nil {
			in.Name, err = grid.Expand(raw.Name, vars, grid.MaxPath)
		}
		all = append(all, in)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("input %.80q: %w", text, err)
	}
	if v.namesOthers(text) {
		return nil, fmt.Errorf("input %.80q: only values of the array are known when the job is submitted: want one of %s",
			text, strings.Join(v.spec.Array.Names(), ", "))
	}
	return all, nil
}

// combinations calls f with each combination of the values of the variables that a text names, the last of which varies
// fastest, until f returns an error. More combinations than most are an error.
func (v *Values) combinations(text string, most int, f func(vars []grid.Var, only []v1.TaskInput) error) error {
	var names []string
	var values [][]string
	n := 1
	for _, name := range v.spec.Array.Names() {
		if !grid.Refers(text, name) {
			continue
		}
		names, values = append(names, name), append(values, v.axis(name))
		if n *= len(values[len(values)-1]); n > most {
			return fmt.Errorf("stands for more than %d files: want fewer, or a folder that all tasks have", most)
		}
	}
	vars, only := make([]grid.Var, len(names)), make([]v1.TaskInput, len(names))
	for c := range n {
		for i, rest := len(names)-1, c; i >= 0; i-- {
			at := rest % len(values[i])
			rest /= len(values[i])
			vars[i] = grid.Var{Name: names[i], Value: values[i][at]}
			only[i] = v1.TaskInput{Variable: names[i], Value: uint32(at)}
		}
		if err := f(vars, only); err != nil {
			return err
		}
	}
	return nil
}

// namesOthers reports whether a text names a variable of Skep that is none of the array.
func (v *Values) namesOthers(text string) bool {
	for rest := text; ; {
		i := strings.Index(rest, "${SKEP_")
		if i < 0 {
			return false
		}
		name, _, closed := strings.Cut(rest[i+2:], "}")
		if closed && !slices.Contains(v.spec.Array.Names(), name) {
			return true
		}
		rest = rest[i+2:]
	}
}

// CheckOutputs reports patterns of outputs that values would make wrong.
func (v *Values) CheckOutputs() error {
	for _, pattern := range v.spec.Outputs {
		err := v.combinations(pattern, grid.MaxCount, func(vars []grid.Var, _ []v1.TaskInput) error {
			if len(vars) == 0 {
				return nil // the specification's own check
			}
			p, err := grid.Expand(pattern, vars, grid.MaxPath)
			if err == nil {
				_, err = path.Match(p, "")
			}
			if err != nil || !grid.Inside(p) {
				return fmt.Errorf("with %s it is %.80q: want a pattern of a path inside the work folder", Text(vars), p)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("outputs %.80q: %w", pattern, err)
		}
	}
	return nil
}
