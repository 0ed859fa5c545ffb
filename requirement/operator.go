package requirement

import "github.com/expr-lang/expr/ast"

// operators of two operands.
var operators = map[string]op{
	"&&": opAnd, "and": opAnd, "||": opOr, "or": opOr, "==": opEqual, "!=": opUnequal, "<": opLess, "<=": opLessEqual,
	">": opGreater, ">=": opGreaterEqual, "+": opPlus, "-": opMinus, "*": opTimes, "/": opOver, "%": opModulo,
	"in": opIn, "contains": opContains, "startsWith": opStartsWith, "endsWith": opEndsWith, "??": opOtherwise,
}

// unary appends a node of one operand.
func (t *translator) unary(n *ast.UnaryNode) Kind {
	kind := t.translate(n.Node)
	switch n.Operator {
	case "!", "not":
		if kind != Logical {
			return t.fail(n, "%s of %v: want true or false", n.Operator, kind)
		}
		return t.add(n, node{op: opNot, kind: Logical, left: t.last()})
	case "-", "+":
		if kind != Numeric {
			return t.fail(n, "%s of %v: want a number", n.Operator, kind)
		}
		if n.Operator == "+" {
			return kind
		}
		return t.add(n, node{op: opNegative, kind: Numeric, left: t.last()})
	}
	return t.fail(n, "operator %s: want !, not or -", n.Operator)
}

// binary appends a node of two operands.
func (t *translator) binary(n *ast.BinaryNode) Kind {
	o, ok := operators[n.Operator]
	if !ok {
		return t.fail(n, "operator %s: want one of && || == != < <= > >= + - * / %% in contains startsWith endsWith ??",
			n.Operator)
	}
	left := t.translate(n.Left)
	at := t.last()
	if list, literal := n.Right.(*ast.ArrayNode); o == opIn && literal {
		return t.inLiterals(n, left, at, list)
	}
	right := t.translate(n.Right)
	if t.err != nil {
		return Logical
	}
	kind, want := typeOf(o, left, right)
	if want != "" {
		return t.fail(n, "%s between %v and %v: want %s", n.Operator, left, right, want)
	}
	return t.add(n, node{op: o, kind: kind, left: at, right: t.last()})
}

// typeOf returns the type of an operator's value, or what its operands should be.
func typeOf(o op, left, right Kind) (kind Kind, want string) {
	switch {
	case o == opAnd || o == opOr:
		if left != Logical || right != Logical {
			return 0, "true or false on both sides"
		}
	case o == opEqual || o == opUnequal:
		if left != right || left == Listed {
			return 0, "the same type on both sides; number(X) makes a number of text"
		}
	case o >= opLess && o <= opGreaterEqual:
		if left != right || left != Numeric && left != Textual {
			return 0, "two numbers or two texts; number(X) makes a number of text"
		}
	case o >= opPlus && o <= opModulo:
		if left != Numeric || right != Numeric {
			return 0, "two numbers; number(X) makes a number of text"
		}
		return Numeric, ""
	case o == opIn:
		if left != Textual || right != Listed {
			return 0, "a text and a list"
		}
	case o == opOtherwise:
		if left != right || left == Listed {
			return 0, "the same type on both sides"
		}
		return left, ""
	case left != Textual || right != Textual:
		return 0, "two texts"
	}
	return Logical, ""
}

// inLiterals appends a membership in a list of literals, which is kept in the node.
func (t *translator) inLiterals(n *ast.BinaryNode, left Kind, at uint8, list *ast.ArrayNode) Kind {
	m := node{op: opIn, kind: Logical, left: at}
	for _, e := range list.Nodes {
		switch e := e.(type) {
		case *ast.StringNode:
			m.texts = append(m.texts, e.Value)
		case *ast.IntegerNode:
			m.numbers = append(m.numbers, float64(e.Value))
		case *ast.FloatNode:
			m.numbers = append(m.numbers, e.Value)
		default:
			return t.fail(e, "%s: want numbers or texts in a list", e)
		}
	}
	switch size := len(m.texts) + len(m.numbers); {
	case t.err != nil:
		return Logical
	case size == 0 || size > MaxNodes:
		return t.fail(list, "a list of %d: want 1 to %d", size, MaxNodes)
	case len(m.texts) > 0 && (left != Textual || len(m.numbers) > 0),
		len(m.texts) == 0 && left != Numeric:
		return t.fail(n, "in between %v and this list: want the type of what is in it", left)
	}
	return t.add(n, m)
}

// conditional appends a choice.
func (t *translator) conditional(n *ast.ConditionalNode) Kind {
	cond := t.translate(n.Cond)
	m := node{op: opChoice, left: t.last()}
	m.kind = t.translate(n.Exp1)
	m.right = t.last()
	other := t.translate(n.Exp2)
	m.third = t.last()
	switch {
	case t.err != nil:
		return Logical
	case cond != Logical:
		return t.fail(n.Cond, "the condition is %v: want true or false", cond)
	case m.kind != other || m.kind == Listed:
		return t.fail(n, "? : between %v and %v: want the same type on both sides", m.kind, other)
	}
	return t.add(n, m)
}

// function is a function that expressions may call.
type function struct {
	op     op
	args   []Kind
	result Kind
}

var functions = map[string]function{
	"number": {opNumberOf, []Kind{Textual}, Numeric},
	"lower":  {opLower, []Kind{Textual}, Textual},
	"min":    {opMin, []Kind{Numeric, Numeric}, Numeric},
	"max":    {opMax, []Kind{Numeric, Numeric}, Numeric},
}

// call appends a call.
func (t *translator) call(n ast.Node, name string, args []ast.Node) Kind {
	if name == "defined" && len(args) == 1 {
		t.translate(args[0])
		return t.add(n, node{op: opDefined, kind: Logical, left: t.last()})
	}
	f, ok := functions[name]
	if !ok {
		return t.fail(n, "function %s is not known: want one of defined, number, lower, min, max", name)
	}
	if len(args) != len(f.args) {
		return t.fail(n, "%s of %d values: want %d", name, len(args), len(f.args))
	}
	m := node{op: f.op, kind: f.result}
	for i, arg := range args {
		if kind := t.translate(arg); t.err == nil && kind != f.args[i] {
			return t.fail(arg, "%s of %v: want %v", name, kind, f.args[i])
		}
		if i == 0 {
			m.left = t.last()
		} else {
			m.right = t.last()
		}
	}
	return t.add(n, m)
}
