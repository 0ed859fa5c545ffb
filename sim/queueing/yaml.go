package queueing

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"skep/document"
)

// reader reads a file. It gathers everything that is wrong, and where each part of the system stands.
type reader struct {
	name   string
	lines  map[string]int  // of the paths of Problem
	unread map[string]bool // paths of what could not be read, and is another thing or nothing in the system
	errors []place
}

// place is a problem at a line, 0 for the whole file.
type place struct {
	line int
	text string
}

func (r *reader) wrong(n ast.Node, format string, args ...any) {
	r.errors = append(r.errors, place{line(n), fmt.Sprintf(format, args...)})
}

// misread is wrong about all that stands at a path.
func (r *reader) misread(path string, n ast.Node, format string, args ...any) {
	r.unread[path] = true
	r.wrong(n, "%s%s", before(path), fmt.Sprintf(format, args...))
}

// follows reports whether a problem is no more than that something there could not be read.
func (r *reader) follows(path string) bool {
	for ; path != ""; path = path[:max(strings.LastIndexAny(path, ".["), 0)] {
		if r.unread[path] {
			return true
		}
	}
	return false
}

func line(n ast.Node) int {
	at, _ := document.Place(n)
	return at
}

// at is the line of a path, or of the nearest part of the file that holds it.
func (r *reader) at(path string) int {
	for path != "" {
		if n, ok := r.lines[path]; ok {
			return n
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return 0
}

// body returns the one document of a file.
func (r *reader) body(b []byte) ast.Node {
	body, err := document.Parse(b)
	if err != nil {
		r.errors = append(r.errors, place{err.Line, err.Text})
		return nil
	}
	if body == nil {
		r.wrong(nil, "is empty: want a system, with classes, machines, mu and alpha")
	}
	return body
}

// keys are the readers of the values of a mapping.
type keys map[string]func(path string, n ast.Node)

// mapping reads a mapping. Unknown keys, and those that stand twice, are wrong.
func (r *reader) mapping(path string, n ast.Node, known []string, read keys) {
	var values []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	default:
		r.misread(path, n, "want keys and values: %s", strings.Join(known, ", "))
		return
	}
	seen := map[string]bool{}
	for _, v := range values {
		key := v.Key.GetToken().Value
		switch f := read[key]; {
		case f == nil:
			r.wrong(v.Key, "%sunknown key %q: want one of %s", before(path), key, strings.Join(known, ", "))
		case seen[key]:
			r.wrong(v.Key, "%skey %q stands twice", before(path), key)
		default:
			p := join(path, key)
			r.lines[p] = line(v.Key)
			f(p, v.Value)
		}
		seen[key] = true
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func before(path string) string {
	if path == "" {
		return ""
	}
	return path + ": "
}

// list reads a sequence.
func (r *reader) list(path string, n ast.Node, read func(path string, n ast.Node)) {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		r.misread(path, n, "want a list, as in [1, 2]")
		return
	}
	for k, v := range s.Values {
		p := fmt.Sprintf("%s[%d]", path, k)
		r.lines[p] = line(v)
		read(p, v)
	}
}

// number reads a number; what is none is wrong and reads as 1, which is right in most places. The parser takes
// 2e-05 for text, which YAML does not.
func (r *reader) number(path string, n ast.Node) float64 {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode, *ast.StringNode:
		t := n.GetToken()
		if t.Type == token.SingleQuoteType || t.Type == token.DoubleQuoteType {
			break
		}
		text := strings.NewReplacer("_", "", ".inf", "inf", ".nan", "nan", ".NaN", "nan", ".Inf", "inf").Replace(t.Value)
		if x, err := strconv.ParseFloat(text, 64); err == nil {
			return x
		}
	}
	r.misread(path, n, "%s: want a number", shown(n))
	return 1
}

// numbers reads a list of numbers.
func (r *reader) numbers(path string, n ast.Node) []float64 {
	out := []float64{}
	r.list(path, n, func(path string, n ast.Node) { out = append(out, r.number(path, n)) })
	return out
}

// rows reads a list of lists of numbers.
func (r *reader) rows(path string, n ast.Node) [][]float64 {
	out := [][]float64{}
	r.list(path, n, func(path string, n ast.Node) { out = append(out, r.numbers(path, n)) })
	return out
}

// text reads a scalar as it is written.
func (r *reader) text(path string, n ast.Node) string {
	s, ok := document.Scalar(n)
	if !ok {
		r.misread(path, n, "want a single value")
		return "?"
	}
	return s
}

// shown is a value for an error.
func shown(n ast.Node) string {
	s := strings.ReplaceAll(n.String(), "\n", " ")
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return strconv.Quote(s)
}

// err is what is wrong, by line.
func (r *reader) err() error {
	slices.SortStableFunc(r.errors, func(a, b place) int { return a.line - b.line })
	var out []string
	for _, p := range r.errors {
		if p.line > 0 {
			out = append(out, fmt.Sprintf("%s:%d: %s", r.name, p.line, p.text))
		} else {
			out = append(out, fmt.Sprintf("%s: %s", r.name, p.text))
		}
	}
	return document.Tell(r.name, out)
}
