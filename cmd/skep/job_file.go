package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/goccy/go-yaml/ast"

	"skep/grid"
	"skep/node/api/v1"
)

// jobFile is a parsed job file; inputs are still paths.
type jobFile struct {
	spec   v1.Spec
	inputs []string // PATH[=NAME] or HASH=NAME
	lines  map[string]int
}

var jobKeys = []string{"name", "class", "engine", "command", "count", "needs", "inputs", "outputs", "env", "timeout", "retries", "policy", "wait", "idempotent",
	"isolation", "network", "access"}

// readJob parses a job file. The error lists all problems with line and column.
func readJob(name string, b []byte) (*jobFile, error) {
	f := &yamlFile{name: name}
	j := &jobFile{lines: map[string]int{}}
	body, err := f.parse(b)
	if err != nil {
		return nil, err
	}
	if body == nil {
		return nil, fmt.Errorf("%s: is empty: want a job, at least its command", name)
	}
	for _, e := range f.mapping(body, "job", jobKeys...) {
		if t := e.node.GetToken(); t != nil && t.Position != nil {
			j.lines[e.key] = t.Position.Line
		}
		j.field(f, e)
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	if err := checkSpec(&j.spec); err != nil {
		return nil, j.withLines(name, err)
	}
	return j, nil
}

func (j *jobFile) field(f *yamlFile, e entry) {
	s := &j.spec
	text := func(dst *string) {
		if t, ok := f.text(e.value, e.key); ok {
			*dst = t
		}
	}
	switch e.key {
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
		if _, ok := e.value.(*ast.SequenceNode); !ok {
			f.at(e.value, "command: want a list of words, as in [./simulate, --seed, 7]")
			return
		}
		s.Command = f.texts(e.value, "command")
	case "count":
		f.number(e, 1, grid.MaxCount, func(n int64) { s.Count = uint32(n) })
	case "retries":
		f.number(e, 0, grid.MaxRetries, func(n int64) { r := int32(n); s.Retries = &r })
	case "inputs":
		j.inputs = f.texts(e.value, "inputs")
	case "outputs":
		s.Outputs = f.texts(e.value, "outputs")
	case "env":
		s.Env = map[string]string{}
		for _, v := range f.mapping(e.value, "env") {
			if t, ok := f.text(v.value, "env "+v.key); ok {
				s.Env[v.key] = t
			}
		}
	case "timeout":
		f.parsed(e, func(t string) (err error) { s.Timeout, err = parseTimeout(t); return })
	case "wait":
		f.parsed(e, func(t string) (err error) { s.Wait, err = strconv.ParseBool(t); return badBool(err) })
	case "access":
		f.parsed(e, func(t string) error { s.Access = t; return checkAccess(t) })
	case "idempotent":
		f.parsed(e, func(t string) (err error) { s.Idempotent, err = strconv.ParseBool(t); return badBool(err) })
	case "needs":
		j.needs(f, e.value)
	}
}

func (j *jobFile) needs(f *yamlFile, n ast.Node) {
	for _, e := range f.mapping(n, "needs", "cpu", "memory", "labels") {
		switch e.key {
		case "cpu":
			f.parsed(e, func(t string) (err error) { j.spec.Needs.Cores, err = parseCores(t); return })
		case "memory":
			f.parsed(e, func(t string) (err error) { j.spec.Needs.Memory, err = parseSize(t); return })
		case "labels":
			j.spec.Needs.Labels = map[string][]string{}
			for _, l := range f.mapping(e.value, "labels") {
				j.spec.Needs.Labels[l.key] = f.texts(l.value, "labels "+l.key)
			}
		}
	}
}

// number parses an integer within bounds.
func (f *yamlFile) number(e entry, lo, hi int64, set func(int64)) {
	f.parsed(e, func(t string) error {
		n, err := strconv.ParseInt(t, 10, 64)
		if err != nil || n < lo || n > hi {
			return fmt.Errorf("%.40q: want a whole number from %d to %d", t, lo, hi)
		}
		set(n)
		return nil
	})
}

// parsed parses a scalar with a function whose error says what is allowed.
func (f *yamlFile) parsed(e entry, parse func(string) error) {
	t, ok := f.text(e.value, e.key)
	if !ok {
		return
	}
	if err := parse(t); err != nil {
		f.at(e.value, "%s %v", e.key, err)
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

func badBool(err error) error {
	var e *strconv.NumError
	if errors.As(err, &e) {
		return fmt.Errorf("%.40q: want true or false", e.Num)
	}
	return err
}

// parseCores parses a number of cores.
func parseCores(t string) (float64, error) {
	c, err := strconv.ParseFloat(t, 64)
	if err != nil || !(c >= 0.001 && c <= grid.MaxMillis/1000) {
		return 0, fmt.Errorf("%.40q: want cores, from 0.001 to %d", t, grid.MaxMillis/1000)
	}
	return c, nil
}

// parseSize parses a size such as 256MiB.
func parseSize(t string) (int64, error) {
	n, err := humanize.ParseBytes(t)
	if err != nil || n > uint64(grid.MaxMemory) || strings.HasPrefix(strings.TrimSpace(t), "-") {
		return 0, fmt.Errorf("%.40q: want a size up to %s, as in 256MiB or 2GB", t, humanize.IBytes(uint64(grid.MaxMemory)))
	}
	return int64(n), nil
}

// parseTimeout parses a duration such as 10m, in seconds.
func parseTimeout(t string) (float64, error) {
	d, err := time.ParseDuration(t)
	if s, ferr := strconv.ParseFloat(t, 64); err != nil && ferr == nil && s >= 0 && !math.IsInf(s, 0) {
		d, err = grid.Seconds(s), nil
	}
	if err != nil || d < 0 || d > grid.MaxTimeout {
		return 0, fmt.Errorf("%.40q: want a length of time up to %v, as in 90s or 10m", t, grid.MaxTimeout)
	}
	return d.Seconds(), nil
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
