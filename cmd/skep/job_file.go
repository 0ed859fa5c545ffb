package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"skep/cmd/skep/arrays"
	"skep/cmd/skep/bids"
	"skep/cmd/skep/environ"
	"skep/cmd/skep/gang"
	"skep/cmd/skep/order"
	"skep/cmd/skep/resources"
	"skep/document"
	"skep/grid"
	"skep/internal/indices"
	v1 "skep/node/api/v1"
	"skep/requirement"
)

// jobFile is a parsed job file; inputs are still paths.
type jobFile struct {
	spec              v1.Spec
	inputs            []string // PATH[=NAME] or HASH=NAME
	stdin             string   // a path
	around            environ.Wanted
	lines             map[string]int
	order             order.Refs // the jobs that it waits for
	as                string     // its name among the jobs of the file; "" = it is the only one
	indices, eachLine string
	matrix            []v1.Variable
	values            *arrays.Values // nil = it has no array
}

var jobKeys = []string{"name", "class", "engine", "command", "count", "needs", "options", "inputs", "outputs", "env",
	"timeout", "retries", "on_failure", "max_failures", "max_running", "priority", "deadline", "budget", "policy", "wait",
	"idempotent", "isolation", "network", "access", "array", "each_line", "matrix", "stdin", "env_all", "workdir", "home",
	"after", "after_ok", "after_each", "gang", "rank", "reliability", "secrets"}

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
	j.read(f, body)
	if err := f.Err(); err != nil {
		return nil, err
	}
	return j.checked(name)
}

// read reads the keys of a job.
func (j *jobFile) read(f *document.Reader, body ast.Node) {
	for _, e := range f.Mapping(body, "job", jobKeys...) {
		if t := e.Node.GetToken(); t != nil && t.Position != nil {
			j.lines[e.Key] = t.Position.Line
		}
		j.field(f, e)
	}
}

// checked checks a job, but for what is known only when its lines are read.
func (j *jobFile) checked(name string) (*jobFile, error) {
	if err := errors.Join(j.around.Apply(&j.spec, filepath.Dir(name), "")...); err != nil {
		return nil, j.withLines(name, err)
	}
	if j.eachLine != "" { // checked when its lines are read
		return j, nil
	}
	return j, j.check(name, nil)
}

// check adds the array, with lines if it has them, and checks the spec.
func (j *jobFile) check(name string, lines []string) error {
	if j.indices != "" || len(j.matrix) > 0 || len(lines) > 0 {
		if j.spec.Count > 0 {
			return j.withLines(name, errors.New("count: with an array, which says how many tasks there are: want one of them"))
		}
		j.values = arrays.Apply(&j.spec, j.indices, lines, j.matrix)
	} else {
		j.values = arrays.OfIndex(&j.spec, j.inputs)
	}
	if err := checkSpec(&j.spec, j.values); err != nil {
		return j.withLines(name, err)
	}
	return nil
}

// readLines reads the file of the key each_line, relative to dir, if there is one.
func (j *jobFile) readLines(name, dir string, stdin io.Reader) error {
	if j.eachLine == "" {
		return nil
	}
	if j.eachLine == "-" && name == "standard input" {
		return j.withLines(name, errors.New("each_line \"-\": the standard input is the job file: want a file"))
	}
	lines, err := arrays.ReadLines(j.eachLine, dir, stdin)
	if err != nil {
		return j.withLines(name, fmt.Errorf("each_line %w", err))
	}
	return j.check(name, lines)
}

func (j *jobFile) field(f *document.Reader, e document.Entry) {
	s := &j.spec
	if j.order.Field(f, e) || bids.Field(f, e, s) {
		return
	}
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
	case "stdin":
		text(&j.stdin)
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
	case "max_failures":
		f.Number(e, 0, grid.MaxCount, func(n int64) { s.MaxFailures = int32(n) })
	case "max_running":
		f.Number(e, 0, grid.MaxCount, func(n int64) { s.MaxRunning = int32(n) })
	case "rank":
		s.Rank = resources.ReadExpression(f, e, requirement.Rank)
	case "gang":
		s.Gang = gang.Read(f, e.Value)
	case "on_failure":
		j.onFailure(f, e.Value)
	case "inputs":
		j.inputs = j.order.ReadInputs(f, e.Value)
	case "outputs":
		s.Outputs = f.Texts(e.Value, "outputs")
	case "env":
		for _, v := range f.Mapping(e.Value, "env") {
			if strings.Contains(v.Key, "=") {
				f.At(v.Value, "env %s: want a name without '='", v.Key)
			} else if v.Value.Type() == ast.NullType {
				j.around.Names = append(j.around.Names, v.Key) // with the submitter's value
			} else if t, ok := f.Text(v.Value, "env "+v.Key); ok {
				j.around.Names = append(j.around.Names, v.Key+"="+t)
			}
		}
	case "env_all":
		f.Value(e, func(t string) (err error) { j.around.All, err = document.ParseBool(t); return })
	case "secrets":
		j.around.Secrets = f.Texts(e.Value, "secrets")
	case "workdir":
		text(&j.around.Work)
	case "home":
		text(&j.around.Home)
	case "timeout":
		f.Value(e, func(t string) (err error) { s.Timeout, err = document.ParseTimeout(t); return })
	case "wait":
		f.Value(e, func(t string) (err error) { s.Wait, err = document.ParseBool(t); return })
	case "access":
		f.Value(e, func(t string) error { s.Access = t; return checkAccess(t) })
	case "idempotent":
		f.Value(e, func(t string) (err error) { s.Idempotent, err = document.ParseBool(t); return })
	case "array":
		f.Value(e, func(t string) error {
			j.indices = t
			_, err := indices.Parse(t, grid.MaxCount)
			return err
		})
	case "each_line":
		text(&j.eachLine)
	case "matrix":
		for _, v := range f.Mapping(e.Value, "matrix") {
			if _, ok := v.Value.(*ast.SequenceNode); !ok {
				f.At(v.Value, "matrix %s: want a list of values, as in [1, 2]", v.Key)
				continue
			}
			j.matrix = append(j.matrix, v1.Variable{Name: v.Key, Values: f.Texts(v.Value, "matrix "+v.Key)})
		}
	case "needs":
		resources.ReadNeeds(f, e.Value, "needs", &j.spec.Needs, resources.Keys)
	case "options":
		j.spec.Options = resources.ReadOptions(f, e)
	}
}

// withLines puts the line of its key before each problem.
func (j *jobFile) withLines(name string, err error) error {
	var out []error
	for _, line := range strings.Split(err.Error(), "\n") {
		key := line[:max(0, strings.IndexFunc(line, func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' }))]
		n, ok := j.lines[key]
		for _, of := range [...]string{"matrix", "each_line"} { // an array may be made of these alone
			if key == "array" && !ok {
				n, ok = j.lines[of]
			}
		}
		if ok {
			line = fmt.Sprintf("%s:%d: %s", name, n, line)
		} else {
			line = name + ": " + line
		}
		out = append(out, errors.New(line))
	}
	return errors.Join(out...)
}

// checkSpec checks a spec whose inputs are not read yet, and what the values of its array make of it.
func checkSpec(s *v1.Spec, values *arrays.Values) error {
	g, err := s.Grid()
	if err != nil {
		return err
	}
	if values != nil && len(values.Lines()) > 0 {
		g.Inputs = []grid.File{{Path: arrays.LinesPath, Blob: grid.BlobID{1}}}
	}
	if err := g.Check(); err != nil || values == nil {
		return err
	}
	return values.CheckOutputs()
}
