package requirement

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// Parse parses an expression for a use. An error names the column, what is wrong there and what would be right.
func Parse(text string, use Use) (*Expression, error) {
	switch {
	case len(text) > MaxText:
		return nil, fmt.Errorf("%.40q… has %d bytes: want at most %d", text, len(text), MaxText)
	case strings.TrimSpace(text) == "":
		return nil, errors.New("is empty: want an expression, as in " + examples[use])
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return nil, fmt.Errorf("%.40q: want one line of printable text", text)
	}
	if strings.Count(text, "(")+strings.Count(text, "[")+strings.Count(text, "{") > MaxNodes { // the parser nests as deep
		return nil, fmt.Errorf("%.40q… has too many brackets: want at most %d", text, MaxNodes)
	}
	limits := conf.CreateNew()
	limits.MaxNodes = 4 * MaxNodes // it counts names and keys besides
	tree, err := parser.ParseWithConfig(text, limits)
	if err != nil {
		return nil, syntax(err)
	}
	t := translator{x: &Expression{text: text}, use: use}
	kind := t.translate(tree.Node)
	if t.err == nil {
		t.result(tree.Node, kind)
	}
	if t.err != nil {
		return nil, t.err
	}
	return t.x, nil
}

// examples are an expression for each use.
var examples = [...]string{Where: `node.memory > 64 && node.labels.os == "linux"`, Rank: `node.speed`,
	Accept: `job.submitter != "guest"`}

// syntax returns the error of the parser, without the copy of the text that it draws.
func syntax(err error) error {
	var at *file.Error
	if errors.As(err, &at) {
		return fmt.Errorf("column %d: %s", at.Column+1, at.Message)
	}
	return err
}

// translator makes nodes of a syntax tree.
type translator struct {
	x   *Expression
	use Use
	err error // the first
}

// fail keeps the first error.
func (t *translator) fail(at ast.Node, format string, args ...any) Kind {
	if t.err == nil {
		t.err = fmt.Errorf("column %d: "+format, append([]any{start(at) + 1}, args...)...)
	}
	return Logical
}

// start is where a part begins in the text. The parser places a member at its last name.
func start(n ast.Node) int {
	switch n := n.(type) {
	case *ast.ChainNode:
		return start(n.Node)
	case *ast.MemberNode:
		return start(n.Node)
	}
	return n.Location().From
}

// result checks the type of the whole.
func (t *translator) result(at ast.Node, kind Kind) {
	switch {
	case t.use == Rank && kind != Numeric:
		t.fail(at, "the whole is %v: want a number, as in %s", kind, examples[t.use])
	case t.use != Rank && kind != Logical:
		t.fail(at, "the whole is %v: want true or false, as in %s", kind, examples[t.use])
	}
}

// add appends a node.
func (t *translator) add(at ast.Node, n node) Kind {
	if len(t.x.nodes) >= MaxNodes {
		return t.fail(at, "is too long: want at most %d names, values and operators", MaxNodes)
	}
	t.x.nodes = append(t.x.nodes, n)
	return n.kind
}

// last is the index of the node that was added last.
func (t *translator) last() uint8 { return uint8(len(t.x.nodes) - 1) }

// translate appends the nodes of a part, and returns its type.
func (t *translator) translate(n ast.Node) Kind {
	if t.err != nil {
		return Logical
	}
	switch n := n.(type) {
	case *ast.IntegerNode:
		return t.add(n, node{op: opNumber, kind: Numeric, constant: constant{number: float64(n.Value)}})
	case *ast.FloatNode:
		return t.add(n, node{op: opNumber, kind: Numeric, constant: constant{number: n.Value}})
	case *ast.StringNode:
		return t.add(n, node{op: opText, kind: Textual, constant: constant{text: n.Value}})
	case *ast.BoolNode:
		is := 0.0
		if n.Value {
			is = 1
		}
		return t.add(n, node{op: opTruth, kind: Logical, constant: constant{number: is}})
	case *ast.IdentifierNode, *ast.MemberNode, *ast.ChainNode:
		return t.attribute(n)
	case *ast.UnaryNode:
		return t.unary(n)
	case *ast.BinaryNode:
		return t.binary(n)
	case *ast.ConditionalNode:
		return t.conditional(n)
	case *ast.CallNode:
		name := ""
		if f, ok := n.Callee.(*ast.IdentifierNode); ok {
			name = f.Value
		}
		return t.call(n, name, n.Arguments)
	case *ast.BuiltinNode:
		return t.call(n, n.Name, n.Arguments)
	case *ast.ArrayNode:
		return t.fail(n, "a list stands only right of in, as in node.labels.os in [%q, %q]", "linux", "darwin")
	}
	return t.fail(n, "%s: want attributes, numbers, texts, comparisons, + - * / %%, and, or, not, in, contains, "+
		"startsWith, endsWith, ??, ? :", n)
}

// attribute appends the node of an attribute.
func (t *translator) attribute(n ast.Node) Kind {
	path, ok := path(n)
	if !ok {
		return t.fail(n, "%s: want a name, as in node.labels.os", n)
	}
	of := scopes[t.use]
	name, key := path, ""
	if parts := strings.SplitN(path, ".", 3); len(parts) == 3 {
		name, key = parts[0]+"."+parts[1], parts[2]
	}
	a, found := find(name)
	switch {
	case found && table[a].scope&of == 0 && table[a].scope == ofMoment && t.use == Where:
		return t.fail(n, "%s changes from moment to moment: want it in rank", name)
	case !found || table[a].scope&of == 0:
		return t.fail(n, "%s is not known here: want one of %s", path, names(of))
	case table[a].keyed && key == "":
		return t.fail(n, "%s: want a key with it, as in %s.KEY or %s[%q]", path, name, name, "KEY")
	case !table[a].keyed && key != "":
		return t.fail(n, "%s: %s has no parts", path, name)
	}
	t.x.asks |= table[a].scope
	return t.add(n, node{op: opAttribute, kind: table[a].kind, attr: a, constant: constant{text: key}})
}

// path returns the names of a chain of members, with dots between them.
func path(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.ChainNode:
		return path(n.Node)
	case *ast.IdentifierNode:
		return n.Value, true
	case *ast.MemberNode:
		above, ok := path(n.Node)
		key, literal := n.Property.(*ast.StringNode)
		if !ok || !literal || key.Value == "" {
			return "", false
		}
		return above + "." + key.Value, true
	}
	return "", false
}
