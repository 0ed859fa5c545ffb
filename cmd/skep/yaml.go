package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"skep/document"
)

// yamlFile is a YAML file being parsed. It collects all problems with their positions.
type yamlFile struct {
	name        string
	problems    []problem
	unknownKeys int // number of problems that are unknown keys
}

// problem is an error; line and column are 0 for the whole file.
type problem struct {
	line, column int
	text         string
}

// position returns the file and a position in it, for an error.
func (f *yamlFile) position(line, column int) string {
	if line == 0 {
		return f.name
	}
	return fmt.Sprintf("%s:%d:%d", f.name, line, column)
}

// at reports a problem at a node.
func (f *yamlFile) at(n ast.Node, format string, args ...any) {
	line, column := document.Place(n)
	f.note(n, "%s: "+format, append([]any{f.position(line, column)}, args...)...)
}

// note reports a problem whose text has a position already, sorted with those of a node; nil is the whole file.
func (f *yamlFile) note(n ast.Node, format string, args ...any) {
	line, column := document.Place(n)
	f.problems = append(f.problems, problem{line, column, fmt.Sprintf(format, args...)})
}

// err returns all problems, sorted by position.
func (f *yamlFile) err() error {
	slices.SortStableFunc(f.problems, func(a, b problem) int { return cmp.Or(a.line-b.line, a.column-b.column) })
	var texts []string
	for _, p := range f.problems {
		texts = append(texts, p.text)
	}
	return document.Tell(f.name, texts)
}

// parse parses the one document of a file; nil means that it is empty.
func (f *yamlFile) parse(b []byte) (ast.Node, error) {
	body, err := document.Parse(b)
	if err == nil {
		return body, nil
	}
	return nil, errors.New(f.position(err.Line, err.Column) + ": " + err.Text)
}

// entry is a key of a mapping and its value.
type entry struct {
	key   string
	node  ast.Node
	value ast.Node
}

// mapping returns the entries of a mapping; unknown keys are problems unless known is empty.
func (f *yamlFile) mapping(n ast.Node, what string, known ...string) []entry {
	var values []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	default:
		f.at(n, "%s: want keys and values", what)
		return nil
	}
	var out []entry
	for _, v := range values {
		key, ok := f.text(v.Key, what+" key")
		if !ok {
			continue
		}
		if len(known) > 0 && !slices.Contains(known, key) {
			f.unknownKeys++
			f.at(v.Key, "unknown key %q: want one of %s", key, strings.Join(known, ", "))
			continue
		}
		if slices.ContainsFunc(out, func(e entry) bool { return e.key == key }) {
			f.unknownKeys++
			f.at(v.Key, "key %q stands twice", key)
			continue
		}
		out = append(out, entry{key, v.Key, v.Value})
	}
	return out
}

// text returns a scalar as it is written.
func (f *yamlFile) text(n ast.Node, what string) (string, bool) {
	s, ok := document.Scalar(n)
	if !ok {
		f.at(n, "%s: want a single value", what)
	}
	return s, ok
}

// texts returns a sequence of scalars, or a single one as a sequence.
func (f *yamlFile) texts(n ast.Node, what string) []string {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		if t, ok := f.text(n, what); ok {
			return []string{t}
		}
		return nil
	}
	out := []string{}
	for _, v := range s.Values {
		if t, ok := f.text(v, what); ok {
			out = append(out, t)
		}
	}
	return out
}

// readFile reads a file of the user, or the standard input for "-".
func (a *app) readFile(name string) ([]byte, error) {
	r := a.in
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("file %q: %w", name, withoutPath(err))
		}
		defer file.Close()
		r = file
	}
	b, err := io.ReadAll(io.LimitReader(r, document.MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("file %q: %w", name, withoutPath(err))
	}
	return b, nil
}
