package requirement

import "strconv"

// Truth is a value of three-valued logic.
type Truth uint8

// The values, in an order in which a conjunction is the lesser of two and a disjunction the greater.
const (
	False Truth = iota
	Unknown
	True
)

// String returns "false", "unknown" or "true".
func (t Truth) String() string { return [...]string{"false", "unknown", "true"}[t] }

func (t Truth) not() Truth { return True - t }

func truth(is bool) Truth {
	if is {
		return True
	}
	return False
}

// Kind is the type of a value.
type Kind uint8

// The types. A list is one of texts; expressions have it only beside the operator in.
const (
	Logical Kind = iota
	Numeric
	Textual
	Listed
)

// String names the type as messages do.
func (k Kind) String() string {
	return [...]string{"true or false", "a number", "text", "a list"}[k]
}

// Value is a value of an attribute, or of a part of an expression. The zero value is unknown.
type Value struct {
	Known  bool
	Truth  Truth
	Number float64
	Text   string
	List   []string
}

// NumberOf returns a known number.
func NumberOf(x float64) Value { return Value{Known: true, Number: x} }

// TextOf returns a known text.
func TextOf(s string) Value { return Value{Known: true, Text: s} }

// ListOf returns a known list.
func ListOf(s []string) Value { return Value{Known: true, List: s} }

func logical(t Truth) Value { return Value{Known: t != Unknown, Truth: t} }

// truth is the value as a truth.
func (v *Value) truth() Truth {
	if !v.Known {
		return Unknown
	}
	return v.Truth
}

// print returns the value for people.
func (v *Value) print(k Kind) string {
	switch {
	case !v.Known:
		return "not known"
	case k == Numeric:
		return strconv.FormatFloat(v.Number, 'g', 6, 64)
	case k == Textual:
		return strconv.Quote(v.Text)
	case k == Logical:
		return v.Truth.String()
	}
	text := "["
	for i, s := range v.List {
		if i > 0 {
			text += ", "
		}
		text += strconv.Quote(s)
	}
	return text + "]"
}
