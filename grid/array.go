package grid

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"skep/internal/indices"
)

// Array gives the tasks of a job values: there is one task for each combination of the values of the axes, and the last
// axis varies fastest. It is a table of the axes and not of the tasks, so that a job of any number of tasks has one
// specification, from which a task's index determines its values.
type Array struct {
	Axes   []Axis
	Inputs []TaskInput // of the inputs that only some tasks have, ordered by input
}

// Axis is a variable and its values: exactly one of Values, Indices and Lines is set.
type Axis struct {
	Name    string      // of the environment variable
	Values  []string    // of a variable of the submitter
	Indices indices.Set // of IndexVariable
	Lines   string      // of LineVariable: path of the input whose lines are the values
	Count   uint32      // number of Lines
}

// TaskInput says that only tasks with one value of an axis have an input. An input of which several say so is had by
// tasks of which all hold.
type TaskInput struct{ Input, Axis, Value uint32 }

// The variables of an array that are Skep's own.
const (
	IndexVariable = "SKEP_INDEX"
	LineVariable  = "SKEP_LINE"
)

// Len returns the number of values.
func (x *Axis) Len() int {
	switch {
	case x.Lines != "":
		return int(x.Count)
	case x.Indices != nil:
		return x.Indices.Len()
	}
	return len(x.Values)
}

// Len returns the number of tasks, at most MaxCount+1.
func (a *Array) Len() int {
	n := 1
	for i := range a.Axes {
		if n *= min(a.Axes[i].Len(), MaxCount+1); n > MaxCount {
			return MaxCount + 1
		}
	}
	return n
}

// At returns which value of an axis a task has; −1 if there is no such value, which Check does not allow.
func (a *Array) At(axis int, task uint32) int { return a.lengths().at(axis, task) }

// lengths are the lengths of the axes, the last of which varies fastest.
type lengths []uint32

// lengths counts the values of each axis once: those of indices are the sum of many ranges.
func (a *Array) lengths() lengths {
	n := make(lengths, len(a.Axes))
	for i := range n {
		n[i] = uint32(min(a.Axes[i].Len(), MaxCount+1))
	}
	return n
}

func (n lengths) at(axis int, task uint32) int {
	for i := len(n) - 1; i > axis; i-- {
		task /= max(n[i], 1)
	}
	if axis >= len(n) || n[axis] == 0 {
		return -1
	}
	return int(task % n[axis])
}

// LinesPath returns the path of the input whose lines are values; "" if there is none.
func (a *Array) LinesPath() string {
	for i := range a.Axes {
		if a.Axes[i].Lines != "" {
			return a.Axes[i].Lines
		}
	}
	return ""
}

// Values returns a task's values in the order of the axes. The line is that of the task, if the array has lines.
func (a *Array) Values(task uint32, line string) []Var {
	if a == nil {
		return nil
	}
	vars, n := make([]Var, len(a.Axes)), a.lengths()
	for i := range a.Axes {
		x, at := &a.Axes[i], n.at(i, task)
		vars[i].Name = x.Name
		switch {
		case at < 0:
		case x.Lines != "":
			vars[i].Value = line
		case x.Indices != nil:
			vars[i].Value = strconv.FormatUint(uint64(x.Indices.At(at)), 10)
		default:
			vars[i].Value = x.Values[at]
		}
	}
	return vars
}

// Line returns which line a task has, from 0; -1 if the array has no lines.
func (a *Array) Line(task uint32) int {
	for i := range a.Axes {
		if a.Axes[i].Lines != "" {
			return a.At(i, task)
		}
	}
	return -1
}

// InputsOf returns the inputs of one task.
func (s *JobSpec) InputsOf(task uint32) []File {
	if s.Array == nil || len(s.Array.Inputs) == 0 {
		return s.Inputs
	}
	files, rows, n := make([]File, 0, len(s.Inputs)), s.Array.Inputs, s.Array.lengths()
	for i := range s.Inputs {
		has := true
		for ; len(rows) > 0 && rows[0].Input == uint32(i); rows = rows[1:] {
			has = has && n.at(int(rows[0].Axis), task) == int(rows[0].Value)
		}
		if has {
			files = append(files, s.Inputs[i])
		}
	}
	return files
}

// NeedsArrays reports whether the job needs a node with ArrayLabel.
func (s *JobSpec) NeedsArrays() bool {
	return s.Array != nil ||
		slices.ContainsFunc(s.Env, func(v Var) bool { return strings.Contains(v.Value, ownVariable) }) ||
		slices.ContainsFunc(s.Outputs, func(o string) bool { return strings.Contains(o, ownVariable) })
}

// ownVariable begins a variable of Skep in a word.
const ownVariable = "${SKEP_"

// EachInput calls f with each input and with the share of the tasks that have it.
func (s *JobSpec) EachInput(f func(in *File, share float64)) {
	var rows []TaskInput
	var n lengths
	if s.Array != nil && len(s.Array.Inputs) > 0 {
		rows, n = s.Array.Inputs, s.Array.lengths()
	}
	for i := range s.Inputs {
		share := 1.0
		for ; len(rows) > 0 && rows[0].Input == uint32(i); rows = rows[1:] {
			if axis := int(rows[0].Axis); axis < len(n) {
				share /= float64(max(n[axis], 1))
			}
		}
		f(&s.Inputs[i], share)
	}
}

// Expand replaces each ${NAME} in a word by the variable of that name. Everything else stays, unknown names too, so
// that a shell inside the task gets its own variables. A result of more than most bytes is an error.
func Expand(word string, vars []Var, most int) (string, error) {
	if !strings.Contains(word, "${") {
		return word, nil
	}
	var b strings.Builder
	for rest := word; ; {
		at := strings.Index(rest, "${")
		if at < 0 || b.Len() > most {
			at = len(rest)
		}
		b.WriteString(rest[:at])
		if rest = rest[at:]; rest == "" {
			break
		}
		value, size, known := variableAt(rest, vars)
		if !known {
			value, size = rest[:2], 2
		}
		b.WriteString(value)
		rest = rest[size:]
	}
	if b.Len() > most {
		return "", fmt.Errorf("%.40q: is more than %d bytes with the task's values: want fewer of them", word, most)
	}
	return b.String(), nil
}

// variableAt returns the value of the variable that a text begins with, and the length of its reference.
func variableAt(text string, vars []Var) (value string, size int, known bool) {
	end := strings.IndexByte(text[:min(len(text), MaxLabel+len("${}"))], '}')
	if end < 0 {
		return "", 0, false
	}
	for i := range vars {
		if vars[i].Name == text[2:end] {
			return vars[i].Value, end + 1, true
		}
	}
	return "", 0, false
}

// Refers reports whether a word has ${NAME} of a variable.
func Refers(word, name string) bool { return strings.Contains(word, "${"+name+"}") }
