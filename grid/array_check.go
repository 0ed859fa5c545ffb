package grid

import (
	"slices"
	"strings"
)

// Bounds of an array, and of what its values make of a specification.
const (
	MaxAxes       = 8        // variables
	MaxArray      = 32 * KiB // bytes of all values that are not indices or lines
	MaxValue      = 4 * KiB  // bytes of a value, or of a line
	MaxLines      = 16 * MiB // bytes of the file whose lines are values
	MaxTaskInputs = 4096     // conditions on which inputs a task has
	MaxWords      = 1 * MiB  // bytes of a command, or of an environment, with the task's values
)

func (s *JobSpec) checkArray(p *problems) {
	a := s.Array
	if a == nil {
		return
	}
	if len(a.Axes) < 1 || len(a.Axes) > MaxAxes {
		p.addf("array: %d variables: want 1 to %d", len(a.Axes), MaxAxes)
		return
	}
	size, names := 0, map[string]bool{}
	for _, v := range s.Env {
		names[v.Name] = true
	}
	for i := range a.Axes {
		x := &a.Axes[i]
		if names[x.Name] {
			p.addf("array %q: is in it twice, or in env too: want each name once", x.Name)
		}
		names[x.Name] = true
		s.checkAxis(p, x)
		size += len(x.Name) + 2
		for _, v := range x.Values {
			size += len(v) + 2
			if strings.ContainsRune(v, 0) || len(v) > int(MaxValue) {
				p.addf("array %q, value %.32q: want at most %d bytes, none of them zero", x.Name, v, MaxValue)
			}
		}
	}
	if size > int(MaxArray) {
		p.addf("array: %d bytes of values: want at most %d: put them into a file and take each of its lines", size, MaxArray)
	}
	if n := a.Len(); n > MaxCount {
		p.addf("array: more than %d tasks: want fewer values", MaxCount)
	} else if n != int(s.Count) {
		p.addf("count %d: the array has %d combinations: want one of both", s.Count, n)
	}
	if !s.Needs.HasFeature(ArrayLabel) {
		p.addf("array: want the need %s=%s with it: nodes of an older version cannot run it", ArrayLabel, FeatureValue)
	}
	a.checkInputs(p, len(s.Inputs))
}

// checkAxis checks an axis but for the size of its values.
func (s *JobSpec) checkAxis(p *problems, x *Axis) {
	sources := 0
	for _, set := range [...]bool{len(x.Values) > 0, len(x.Indices) > 0, x.Lines != ""} {
		if set {
			sources++
		}
	}
	switch {
	case sources != 1 || x.Len() == 0:
		p.addf("array %q: has no value: want at least one", x.Name)
	case x.Indices != nil:
		if err := x.Indices.Check(MaxCount); err != nil {
			p.addf("array %q: %v", x.Name, err)
		}
		if x.Name != IndexVariable {
			p.addf("array %q: has indices: want those of %s only", x.Name, IndexVariable)
		}
	case x.Lines != "":
		s.checkLines(p, x)
	default:
		if !ValidVariable(x.Name) {
			p.addf("array %q: want a name of letters, digits and _, at most %d, that does not begin with a digit or SKEP_",
				x.Name, MaxLabel)
		}
	}
}

// checkLines checks that all tasks have one file with the lines of an axis.
func (s *JobSpec) checkLines(p *problems, x *Axis) {
	at, files := 0, 0
	for i, f := range s.WorkFiles() {
		if f.Path == x.Lines {
			at, files = i, files+1
		}
	}
	if files != 1 || s.Inputs[at].Size > MaxLines || x.Name != LineVariable {
		p.addf("array %q: want lines of %s only, and an input of at most %d bytes that has them", x.Name, LineVariable,
			MaxLines)
	}
	if slices.ContainsFunc(s.Array.Inputs, func(in TaskInput) bool { return int(in.Input) == at }) && files == 1 {
		p.addf("array %q: only some tasks have the input with its lines: want one of all", x.Name)
	}
}

func (a *Array) checkInputs(p *problems, inputs int) {
	if len(a.Inputs) > MaxTaskInputs {
		p.addf("array: %d inputs of single values: want at most %d", len(a.Inputs), MaxTaskInputs)
		return
	}
	last := uint32(0)
	for _, r := range a.Inputs {
		if r.Input < last || int64(r.Input) >= int64(inputs) || int64(r.Axis) >= int64(len(a.Axes)) ||
			int64(r.Value) >= int64(a.Axes[r.Axis].Len()) {
			p.addf("array: input %d of value %d of variable %d: there is no such input or value", r.Input, r.Value, r.Axis)
			return
		}
		last = r.Input
	}
}

// ValidVariable reports whether a name may be that of a variable of the submitter.
func ValidVariable(name string) bool {
	for i, r := range name {
		if !(r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || i > 0 && r >= '0' && r <= '9') {
			return false
		}
	}
	return name != "" && len(name) <= MaxLabel && !strings.HasPrefix(name, "SKEP_")
}

func (s *JobSpec) checkEnv(p *problems) {
	size := 0
	for _, v := range s.Env {
		size += len(v.Name) + len(v.Value) + 2
		if v.Name == "" || strings.ContainsAny(v.Name, "=\x00") || strings.ContainsRune(v.Value, 0) {
			p.addf("env %q: want a name without '=' and no zero bytes", v.Name)
		}
		if strings.HasPrefix(v.Name, "SKEP_") && !s.Outer.Some() {
			p.addf("env %q: names that begin with SKEP_ are Skep's own: want another name", v.Name)
		}
	}
	if len(s.Env) > MaxEnv || size > int(MaxEnvSize) {
		p.addf("env: %d variables, %d bytes: want at most %d variables, %d bytes", len(s.Env), size, MaxEnv, MaxEnvSize)
	}
}
