package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"skep/document"
	"skep/grid"
	v1 "skep/node/api/v1"
)

// jobFile is a parsed job file; inputs are still paths.
type jobFile struct {
	spec   v1.Spec
	inputs []string // PATH[=NAME] or HASH=NAME
	lines  map[string]int
}

var jobKeys = []string{"name", "class", "engine", "command", "count", "needs", "inputs", "outputs", "env", "timeout",
	"retries", "policy", "wait", "idempotent",
	"isolation", "network", "access"}

// readJob parses a job file. The error lists all problems with line and column.
func readJob(name string, b []byte) (*jobFile, error) {
	f := &document.Reader{Name: name}
	j := &jobFile{lines: map[string]int{}}
	body, err := f.Parse(b)
	if err != nil {
		return nil, err
	}
	if body == nil {
		return nil, fmt.Errorf("%s: is empty: want a job, at least its command", name)
	}
	for _, e := range f.Mapping(body, "job", jobKeys...) {
		if t := e.Node.GetToken(); t != nil && t.Position != nil {
			j.lines[e.Key] = t.Position.Line
		}
		j.field(f, e)
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := checkSpec(&j.spec); err != nil {
		return nil, j.withLines(name, err)
	}
	return j, nil
}

func (j *jobFile) field(f *document.Reader, e document.Entry) {
	s := &j.spec
	text := func(dst *string) {
		if t, ok := f.Text(e.Value, e.Key); ok {
			*dst = t
		}
	}
	switch e.Key {
	case "name":
		text(&s.Name)
	case "class":
		text(&s.Class)
	case "engine":
		text(&s.Engine)
	case "policy":
		text(&s.Policy)
	case "isolation":
		text(&s.Isolation)
	case "network":
		text(&s.Network)
	case "command":
		if _, ok := e.Value.(*ast.SequenceNode); !ok {
			f.At(e.Value, "command: want a list of words, as in [./simulate, --seed, 7]")
			return
		}
		s.Command = f.Texts(e.Value, "command")
	case "count":
		f.Number(e, 1, grid.MaxCount, func(n int64) { s.Count = uint32(n) })
	case "retries":
		f.Number(e, 0, grid.MaxRetries, func(n int64) { r := int32(n); s.Retries = &r })
	case "inputs":
		j.inputs = f.Texts(e.Value, "inputs")
	case "outputs":
		s.Outputs = f.Texts(e.Value, "outputs")
	case "env":
		s.Env = map[string]string{}
		for _, v := range f.Mapping(e.Value, "env") {
			if t, ok := f.Text(v.Value, "env "+v.Key); ok {
				s.Env[v.Key] = t
			}
		}
	case "timeout":
		f.Value(e, func(t string) (err error) { s.Timeout, err = document.ParseTimeout(t); return })
	case "wait":
		f.Value(e, func(t string) (err error) { s.Wait, err = document.ParseBool(t); return })
	case "access":
		f.Value(e, func(t string) error { s.Access = t; return checkAccess(t) })
	case "idempotent":
		f.Value(e, func(t string) (err error) { s.Idempotent, err = document.ParseBool(t); return })
	case "needs":
		j.needs(f, e.Value)
	}
}

func (j *jobFile) needs(f *document.Reader, n ast.Node) {
	for _, e := range f.Mapping(n, "needs", "cpu", "memory", "labels") {
		switch e.Key {
		case "cpu":
			f.Value(e, func(t string) (err error) { j.spec.Needs.Cores, err = document.ParseCores(t); return })
		case "memory":
			f.Value(e, func(t string) (err error) { j.spec.Needs.Memory, err = document.ParseSize(t); return })
		case "labels":
			j.spec.Needs.Labels = map[string][]string{}
			for _, l := range f.Mapping(e.Value, "labels") {
				j.spec.Needs.Labels[l.Key] = f.Texts(l.Value, "labels "+l.Key)
			}
		}
	}
}

// withLines puts the line of its key before each problem.
func (j *jobFile) withLines(name string, err error) error {
	var out []error
	for _, line := range strings.Split(err.Error(), "\n") {
		key := line[:max(0, strings.IndexFunc(line, func(r rune) bool { return r < 'a' || r > 'z' }))]
		if n, ok := j.lines[key]; ok {
			line = fmt.Sprintf("%s:%d: %s", name, n, line)
		} else {
			line = name + ": " + line
		}
		out = append(out, errors.New(line))
	}
	return errors.Join(out...)
}

// checkSpec checks a spec whose inputs are not read yet.
func checkSpec(s *v1.Spec) error {
	g, err := s.Grid()
	if err != nil {
		return err
	}
	return g.Check()
}

// parseLabels parses KEY=VALUE needs; a repeated key adds a value.
func parseLabels(list []string) (map[string][]string, error) {
	m := map[string][]string{}
	for _, l := range list {
		k, v, ok := strings.Cut(l, "=")
		if !ok || k == "" {
			return nil, fmt.Errorf("%.80q: want KEY=VALUE", l)
		}
		if !slices.Contains(m[k], v) {
			m[k] = append(m[k], v)
		}
	}
	return m, nil
}
