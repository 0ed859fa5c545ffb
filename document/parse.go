package document

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
)

// MaxSize bounds a file, bytes.
const MaxSize = 1 << 20

// Error is what is wrong with a file, and where: Line and Column are 0 where it is so with the whole file.
type Error struct {
	Line, Column int
	Text         string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Text
	}
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Text)
}

// Parse returns what stands in a file, nil where that is nothing. Keys may stand twice in a mapping: who reads it tells
// of all of them.
func Parse(b []byte) (ast.Node, *Error) {
	if len(b) > MaxSize {
		return nil, &Error{Text: fmt.Sprintf("has more than %d bytes", MaxSize)}
	}
	tokens := lexer.Tokenize(string(b))
	if e := check(tokens); e != nil {
		return nil, e
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		var at yaml.Error
		if errors.As(err, &at) && at.GetToken() != nil && at.GetToken().Position != nil {
			p := at.GetToken().Position
			return nil, &Error{p.Line, p.Column, at.GetMessage()}
		}
		return nil, &Error{Text: strings.TrimSpace(err.Error())}
	}
	var body ast.Node
	for _, d := range file.Docs {
		switch {
		case d.Body == nil || d.Body.Type() == ast.CommentType || d.Body.Type() == ast.NullType:
		case body != nil:
			line, column := Place(d.Body)
			return nil, &Error{line, column, "a second document: want one"}
		default:
			body = d.Body
		}
	}
	return body, nil
}

// Place is where a part of a document begins; 0 where that is not known.
func Place(n ast.Node) (line, column int) {
	switch m := n.(type) {
	case nil:
		return 0, 0
	case *ast.MappingNode:
		if !m.IsFlowStyle && len(m.Values) > 0 {
			return Place(m.Values[0])
		}
	case *ast.MappingValueNode:
		return Place(m.Key)
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line, t.Position.Column
	}
	return 0, 0
}

// MaxTold bounds the problems of a file that are told one by one: beyond it they are counted.
const MaxTold = 100

// Tell makes one error of what is wrong with a file, a line each; nil where nothing is.
func Tell(name string, problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	if more := len(problems) - MaxTold; more > 0 {
		problems = append(slices.Clip(problems[:MaxTold]), fmt.Sprintf("%s: and %d more problems", name, more))
	}
	return errors.New(strings.Join(problems, "\n"))
}

// Scalar returns a single value as it is written; false where it is none.
func Scalar(n ast.Node) (string, bool) {
	switch s := n.(type) {
	case *ast.StringNode:
		return s.Value, true
	case *ast.LiteralNode:
		return s.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}
