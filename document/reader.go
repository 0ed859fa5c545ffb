package document

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Reader reads the values of a file. It collects all problems with their positions.
type Reader struct {
	Name        string // of the file, for problems
	problems    []problem
	unknownKeys int // number of problems that are unknown keys, or repeated ones
}

// problem is an error; line and column are 0 for the whole file.
type problem struct {
	line, column int
	text         string
}

// position returns the file and a position in it, for an error.
func (r *Reader) position(line, column int) string {
	if line == 0 {
		return r.Name
	}
	return fmt.Sprintf("%s:%d:%d", r.Name, line, column)
}

// At reports a problem at a node.
func (r *Reader) At(n ast.Node, format string, args ...any) {
	line, column := Place(n)
	r.Note(n, "%s: "+format, append([]any{r.position(line, column)}, args...)...)
}

// Note reports a problem whose text has a position already, sorted with those of a node; nil is the whole file.
func (r *Reader) Note(n ast.Node, format string, args ...any) {
	line, column := Place(n)
	r.problems = append(r.problems, problem{line, column, fmt.Sprintf(format, args...)})
}

// Invalid is the number of problems so far, without unknown and repeated keys.
func (r *Reader) Invalid() int { return len(r.problems) - r.unknownKeys }

// Err returns all problems, sorted by position.
func (r *Reader) Err() error {
	slices.SortStableFunc(r.problems, func(a, b problem) int { return cmp.Or(a.line-b.line, a.column-b.column) })
	var texts []string
	for _, p := range r.problems {
		texts = append(texts, p.text)
	}
	return Tell(r.Name, texts)
}

// Parse parses the one document of a file; nil means that it is empty.
func (r *Reader) Parse(b []byte) (ast.Node, error) {
	body, err := Parse(b)
	if err == nil {
		return body, nil
	}
	return nil, errors.New(r.position(err.Line, err.Column) + ": " + err.Text)
}

// Entry is a key of a mapping and its value.
type Entry struct {
	Key   string
	Node  ast.Node // of the key
	Value ast.Node
}

// Mapping returns the entries of a mapping; unknown keys are problems unless known is empty.
func (r *Reader) Mapping(n ast.Node, what string, known ...string) []Entry {
	return r.MappingBeside(n, what, nil, known...)
}

// MappingBeside is Mapping with obsolete keys that are accepted, too, but not offered where a key is unknown.
func (r *Reader) MappingBeside(n ast.Node, what string, obsolete []string, known ...string) []Entry {
	var values []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	default:
		r.At(n, "%s: want keys and values", what)
		return nil
	}
	var out []Entry
	for _, v := range values {
		key, ok := r.Text(v.Key, what+" key")
		if !ok {
			continue
		}
		if len(known) > 0 && !slices.Contains(known, key) && !slices.Contains(obsolete, key) {
			r.unknownKeys++
			r.At(v.Key, "unknown key %q: want one of %s", key, strings.Join(known, ", "))
			continue
		}
		if slices.ContainsFunc(out, func(e Entry) bool { return e.Key == key }) {
			r.unknownKeys++
			r.At(v.Key, "key %q stands twice", key)
			continue
		}
		out = append(out, Entry{key, v.Key, v.Value})
	}
	return out
}

// Text returns a scalar as it is written.
func (r *Reader) Text(n ast.Node, what string) (string, bool) {
	s, ok := Scalar(n)
	if !ok {
		r.At(n, "%s: want a single value", what)
	}
	return s, ok
}

// Texts returns a sequence of scalars, or a single one as a sequence.
func (r *Reader) Texts(n ast.Node, what string) []string {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		if t, ok := r.Text(n, what); ok {
			return []string{t}
		}
		return nil
	}
	out := []string{}
	for _, v := range s.Values {
		if t, ok := r.Text(v, what); ok {
			out = append(out, t)
		}
	}
	return out
}

// Number parses an integer within bounds.
func (r *Reader) Number(e Entry, lo, hi int64, set func(int64)) {
	r.Value(e, func(t string) error {
		n, err := strconv.ParseInt(t, 10, 64)
		if err != nil || n < lo || n > hi {
			return fmt.Errorf("%.40q: want a whole number from %d to %d", t, lo, hi)
		}
		set(n)
		return nil
	})
}

// Value parses a scalar with a function whose error says what is allowed.
func (r *Reader) Value(e Entry, parse func(string) error) {
	t, ok := r.Text(e.Value, e.Key)
	if !ok {
		return
	}
	if err := parse(t); err != nil {
		r.At(e.Value, "%s %v", e.Key, err)
	}
}
