package requirement

import (
	"fmt"
	"slices"
	"strings"
)

// Bounds of expressions, which may come from others.
const (
	MaxText  = 512 // bytes
	MaxNodes = 64  // nodes of the syntax tree; an evaluation takes at most so many steps
)

// Use is what an expression is for.
type Use uint8

// The uses.
const (
	Where  Use = iota // what a job requires of a node: true or false, of what stays as it is while a node runs
	Rank              // how much a job wants a node: a number, higher is better
	Accept            // what a node requires of a job: true or false, of the job, the time and the node itself
)

// scopes are what an expression may ask for, by its use.
var scopes = [...]scope{Where: ofNode, Rank: ofNode | ofMoment, Accept: ofNode | ofJob | ofTime}

// Expression is a parsed expression. It is immutable.
type Expression struct {
	text  string
	nodes []node // of the tree, each after those below it
	asks  scope
}

// node is a node of the tree. Its operands are earlier nodes.
type node struct {
	op    op
	kind  Kind
	left  uint8
	right uint8
	third uint8 // of a conditional: what holds otherwise
	attr  Attribute
	constant
}

// constant is the value of a literal, or the key of an attribute.
type constant struct {
	number  float64
	text    string
	numbers []float64 // right of in
	texts   []string
}

// String returns the text that was parsed.
func (x *Expression) String() string { return x.text }

// Equal reports whether both are the same text, or none.
func (x *Expression) Equal(y *Expression) bool {
	return x == y || x != nil && y != nil && x.text == y.text
}

// MarshalText returns the text that was parsed.
func (x *Expression) MarshalText() ([]byte, error) { return []byte(x.text), nil }

// UnmarshalText parses a text of any use. One that cannot be parsed is foreign.
func (x *Expression) UnmarshalText(b []byte) error {
	for use := Where; use <= Accept; use++ {
		if parsed, err := Parse(string(b), use); err == nil {
			*x = *parsed
			return nil
		}
	}
	*x = *Foreign(string(b))
	return nil
}

// Foreign is an expression that only newer versions know: nothing here meets it.
func Foreign(text string) *Expression {
	return &Expression{text: text, nodes: []node{{op: opTruth, kind: Logical}}}
}

// MarshalBinary is MarshalText: recordings encode an expression as its text.
func (x *Expression) MarshalBinary() ([]byte, error) { return x.MarshalText() }

// UnmarshalBinary is UnmarshalText.
func (x *Expression) UnmarshalBinary(b []byte) error { return x.UnmarshalText(b) }

// AsksTime reports whether the value may change with the hour.
func (x *Expression) AsksTime() bool { return x.asks&ofTime != 0 }

// Explain returns the values of the attributes that the expression asks for, for people.
func (x *Expression) Explain(m Match) string {
	var parts []string
	for i := range x.nodes {
		n := &x.nodes[i]
		if n.op != opAttribute {
			continue
		}
		v := m.attribute(n)
		part := fmt.Sprintf("%s is %s", n.name(), v.print(n.kind))
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

// name returns the attribute as an expression writes it.
func (n *node) name() string {
	a := &table[n.attr]
	if a.keyed {
		return a.name + "." + n.text
	}
	return a.name
}
