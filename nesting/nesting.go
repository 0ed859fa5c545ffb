package nesting

import (
	"fmt"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// Max bounds how deep the parts of a YAML file may lie in each other. The parser takes memory with the square of the
// depth: a file of 100 kB could ask for all there is.
const Max = 100

// TooDeep is what is wrong with a line that lies deeper.
var TooDeep = fmt.Sprintf("nested more than %d deep: want fewer brackets, keys and dashes within each other, and each bracket closed", Max)

// Line returns the line of what lies deeper in a YAML file than Max, 0 where nothing does. It looks at what the parser
// takes for brackets, keys and dashes, so that comments and texts may have any.
func Line(b []byte) int {
	var s stack
	for _, t := range lexer.Tokenize(string(b)) {
		switch t.Type {
		case token.DocumentHeaderType, token.DocumentEndType:
			s = stack{}
		case token.SequenceStartType, token.MappingStartType:
			s.add(t)
			s.open = append(s.open, len(s.columns))
		case token.SequenceEndType, token.MappingEndType:
			if n := len(s.open); n > 0 {
				s.columns, s.open = s.columns[:s.open[n-1]-1], s.open[:n-1]
			}
		case token.CollectEntryType:
			if n := len(s.open); n > 0 {
				s.columns = s.columns[:s.open[n-1]]
			}
		case token.SequenceEntryType, token.MappingKeyType:
			s.add(t)
		case token.MappingValueType:
			if p := t.Prev; p != nil && p.Position.Line == t.Position.Line {
				t = p // a key is as deep as it begins
			}
			s.add(t)
		}
		if len(s.columns) > Max {
			return t.Position.Line
		}
	}
	return 0
}

// stack is what lies around the place where a file is read.
type stack struct {
	columns []int // of brackets, keys and dashes
	open    []int // how many of them there are with each open bracket
	line    int   // of the last
}

// add adds what begins at a token. Outside brackets it ends what began as far to the right on lines before.
func (s *stack) add(t *token.Token) {
	p := t.Position
	if p.Line != s.line && len(s.open) == 0 {
		for n := len(s.columns); n > 0 && s.columns[n-1] >= p.Column; n-- {
			s.columns = s.columns[:n-1]
		}
	}
	s.columns, s.line = append(s.columns, p.Column), p.Line
}
