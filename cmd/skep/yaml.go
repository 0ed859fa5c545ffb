package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"skep/nesting"
)

// maxYAML bounds a file that a person writes, in bytes.
const maxYAML = 1 << 20

// yamlFile is a YAML file while it is read. It gathers everything that is wrong, with its place.
type yamlFile struct {
	name     string
	problems []error
	strange  int // of problems: keys that were left out
}

// at notes a problem at a node.
func (f *yamlFile) at(n ast.Node, format string, args ...any) {
	pos := ""
	if t := n.GetToken(); t != nil && t.Position != nil {
		pos = fmt.Sprintf(":%d:%d", t.Position.Line, t.Position.Column)
	}
	f.problems = append(f.problems, fmt.Errorf("%s%s: "+format, append([]any{f.name, pos}, args...)...))
}

// err returns all that was wrong.
func (f *yamlFile) err() error { return errors.Join(f.problems...) }

// parse reads the one document of a file; nil means that it is empty.
func (f *yamlFile) parse(b []byte) (ast.Node, error) {
	if len(b) > maxYAML {
		return nil, fmt.Errorf("%s: has more than %d bytes", f.name, maxYAML)
	}
	if line := nesting.Line(b); line > 0 {
		return nil, fmt.Errorf("%s:%d: %s", f.name, line, nesting.TooDeep)
	}
	doc, err := parser.ParseBytes(b, 0, parser.AllowDuplicateMapKey()) // mapping says which keys stand twice
	if err != nil {
		var at yaml.Error
		if errors.As(err, &at) && at.GetToken() != nil && at.GetToken().Position != nil {
			p := at.GetToken().Position
			return nil, fmt.Errorf("%s:%d:%d: %s", f.name, p.Line, p.Column, at.GetMessage())
		}
		return nil, fmt.Errorf("%s: %s", f.name, strings.TrimSpace(err.Error()))
	}
	var body ast.Node
	for _, d := range doc.Docs {
		switch {
		case d.Body == nil || d.Body.Type() == ast.CommentType || d.Body.Type() == ast.NullType:
		case body != nil:
			return nil, fmt.Errorf("%s: has several documents: want one", f.name)
		default:
			body = d.Body
		}
	}
	return body, nil
}

// entry is a key of a mapping and what it has.
type entry struct {
	key   string
	node  ast.Node
	value ast.Node
}

// mapping returns the entries of a mapping; keys that are not known are problems unless none are given.
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
			f.strange++
			f.at(v.Key, "unknown key %q: want one of %s", key, strings.Join(known, ", "))
			continue
		}
		if slices.ContainsFunc(out, func(e entry) bool { return e.key == key }) {
			f.strange++
			f.at(v.Key, "key %q stands twice", key)
			continue
		}
		out = append(out, entry{key, v.Key, v.Value})
	}
	return out
}

// text returns a scalar as it is written.
func (f *yamlFile) text(n ast.Node, what string) (string, bool) {
	switch s := n.(type) {
	case *ast.StringNode:
		return s.Value, true
	case *ast.LiteralNode:
		return s.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	f.at(n, "%s: want a single value", what)
	return "", false
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

// readFile reads a file that a person wrote, or the standard input for "-".
func (a *app) readFile(name string) ([]byte, error) {
	r := a.in
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		r = file
	}
	return io.ReadAll(io.LimitReader(r, maxYAML+1))
}
