package requirement

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

type op uint8

const (
	opNumber op = iota
	opText
	opTruth
	opAttribute
	opNot
	opNegative
	opAnd
	opOr
	opEqual
	opUnequal
	opLess
	opLessEqual
	opGreater
	opGreaterEqual
	opPlus
	opMinus
	opTimes
	opOver
	opModulo
	opIn
	opContains
	opStartsWith
	opEndsWith
	opOtherwise // a ?? b
	opChoice    // a ? b : c
	opDefined
	opNumberOf
	opMin
	opMax
	opLower
)

// Holds returns the value of a requirement. It allocates nothing but the texts that it makes, as by lower.
func (x *Expression) Holds(m Match) Truth {
	v := x.value(len(x.nodes)-1, &m)
	return v.truth()
}

// Of returns the value of a rank; false = it is not known.
func (x *Expression) Of(m Match) (rank float64, known bool) {
	v := x.value(len(x.nodes)-1, &m)
	return v.Number, v.Known
}

// value evaluates a node. Each node is the operand of one other, so each is evaluated once at most.
func (x *Expression) value(i int, m *Match) Value {
	n := &x.nodes[i]
	switch n.op {
	case opNumber:
		return NumberOf(n.number)
	case opText:
		return TextOf(n.text)
	case opTruth:
		return logical(truth(n.number != 0))
	case opAttribute:
		return m.attribute(n)
	}
	left := x.value(int(n.left), m)
	switch n.op {
	case opAnd, opOr:
		return x.connect(n, left.truth(), m)
	case opNot:
		return logical(left.truth().not())
	case opDefined:
		return logical(truth(left.Known))
	case opOtherwise:
		if left.Known {
			return left
		}
		return x.value(int(n.right), m)
	case opChoice:
		switch left.truth() {
		case True:
			return x.value(int(n.right), m)
		case False:
			return x.value(int(n.third), m)
		}
		return Value{}
	}
	if !left.Known {
		return Value{}
	}
	switch n.op {
	case opNegative:
		return NumberOf(-left.Number)
	case opNumberOf:
		number, err := strconv.ParseFloat(left.Text, 64)
		return Value{Known: err == nil && isFinite(number), Number: number}
	case opLower:
		return TextOf(strings.ToLower(left.Text))
	case opIn:
		return x.in(n, &left, m)
	}
	right := x.value(int(n.right), m)
	if !right.Known {
		return Value{}
	}
	if x.nodes[n.left].kind == Textual {
		return ofTexts(n.op, left.Text, right.Text)
	}
	if x.nodes[n.left].kind == Logical {
		return logical(truth((left.Truth == right.Truth) == (n.op == opEqual)))
	}
	return ofNumbers(n.op, left.Number, right.Number)
}

// connect evaluates a conjunction or a disjunction. The second operand is not needed if the first decides.
func (x *Expression) connect(n *node, left Truth, m *Match) Value {
	decides := False
	if n.op == opOr {
		decides = True
	}
	if left == decides {
		return logical(left)
	}
	v := x.value(int(n.right), m)
	if n.op == opOr {
		return logical(max(left, v.truth()))
	}
	return logical(min(left, v.truth()))
}

// in evaluates a membership: in a list of literals, or in one that is an attribute.
func (x *Expression) in(n *node, left *Value, m *Match) Value {
	if n.numbers != nil {
		return logical(truth(slices.Contains(n.numbers, left.Number)))
	}
	if n.texts != nil {
		return logical(truth(slices.Contains(n.texts, left.Text)))
	}
	list := x.value(int(n.right), m)
	if !list.Known {
		return Value{}
	}
	return logical(truth(slices.Contains(list.List, left.Text)))
}

func ofTexts(o op, a, b string) Value {
	switch o {
	case opEqual:
		return logical(truth(a == b))
	case opUnequal:
		return logical(truth(a != b))
	case opLess:
		return logical(truth(a < b))
	case opLessEqual:
		return logical(truth(a <= b))
	case opGreater:
		return logical(truth(a > b))
	case opGreaterEqual:
		return logical(truth(a >= b))
	case opContains:
		return logical(truth(strings.Contains(a, b)))
	case opStartsWith:
		return logical(truth(strings.HasPrefix(a, b)))
	}
	return logical(truth(strings.HasSuffix(a, b)))
}

// ofNumbers evaluates an operator of two numbers. What has no value, as 1/0, is unknown.
func ofNumbers(o op, a, b float64) Value {
	var r float64
	switch o {
	case opEqual:
		return logical(truth(a == b))
	case opUnequal:
		return logical(truth(a != b))
	case opLess:
		return logical(truth(a < b))
	case opLessEqual:
		return logical(truth(a <= b))
	case opGreater:
		return logical(truth(a > b))
	case opGreaterEqual:
		return logical(truth(a >= b))
	case opPlus:
		r = a + b
	case opMinus:
		r = a - b
	case opTimes:
		r = a * b
	case opOver:
		r = a / b
	case opModulo:
		r = math.Mod(a, b)
	case opMin:
		r = min(a, b)
	case opMax:
		r = max(a, b)
	}
	return Value{Known: isFinite(r), Number: r}
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
