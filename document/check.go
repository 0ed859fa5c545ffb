package document

import (
	"fmt"

	"github.com/goccy/go-yaml/token"
)

// Bounds of what a file has. Of each, the parser takes time or memory with the square.
const (
	// MaxDepth bounds how deep brackets, keys and dashes lie in each other.
	MaxDepth = 100

	// MaxKeys bounds the keys of one mapping.
	MaxKeys = 1024

	// MaxPath bounds the keys that lie in each other, bytes of all together: each part of the file is told its path.
	MaxPath = 512

	// MaxAbsent bounds the values that are left out, as that of a in {a: , b: 1}.
	MaxAbsent = 100

	// MaxDocuments bounds the documents, of which one may have anything in it.
	MaxDocuments = 100
)

// check finds what there is too much of. It looks at what the parser takes for brackets, keys and dashes, so that
// comments and texts may have any.
func check(tokens token.Tokens) *Error {
	s, absent, documents := stack{}, 0, 0
	var owner, from *token.Token // of a value: the last colon or dash, and where its entry begins
	for _, t := range tokens {
		at := t
		if owner == nil {
			owner, from = t, t
		}
		switch t.Type {
		case token.DocumentHeaderType, token.DocumentEndType:
			s = stack{}
			documents++
		case token.SequenceStartType, token.MappingStartType:
			s.add(t, 0)
			s.open = append(s.open, bracket{depth: len(s.levels), mapping: t.Type == token.MappingStartType, begin: t})
		case token.SequenceEndType, token.MappingEndType:
			if n := len(s.open); n > 0 {
				absent += s.open[n-1].end(t)
				s.levels, s.open = s.levels[:s.open[n-1].depth-1], s.open[:n-1]
			}
		case token.CollectEntryType:
			if n := len(s.open); n > 0 {
				absent += s.open[n-1].end(t)
				s.levels = s.levels[:s.open[n-1].depth]
			}
		case token.SequenceEntryType:
			s.add(t, 0)
			owner, from = t, t
		case token.MappingKeyType:
			return &Error{t.Position.Line, t.Position.Column, "a question mark before a key: want the key alone"}
		case token.MappingValueType:
			var long int
			at, long = key(t) // which is as deep as it begins
			s.add(at, long)
			s.count()
			owner, from = t, at
		}
		if leftOut(t, owner, from) {
			absent++
		}
		if what := s.excess(absent, documents); what != "" {
			return &Error{at.Position.Line, at.Position.Column, what}
		}
	}
	return nil
}

func (s *stack) excess(absent, documents int) string {
	n := len(s.levels)
	switch {
	case n > MaxDepth:
		return fmt.Sprintf("nested more than %d deep: want fewer brackets, keys and dashes within each other, and each "+
			"bracket closed", MaxDepth)
	case n > 0 && s.levels[n-1].path > MaxPath:
		return fmt.Sprintf("more than %d bytes of keys within each other: want shorter ones", MaxPath)
	case s.keys > MaxKeys:
		return fmt.Sprintf("more than %d keys in one mapping: want fewer", MaxKeys)
	case absent > MaxAbsent:
		return fmt.Sprintf("more than %d values are left out: want one after each key and dash", MaxAbsent)
	case documents > MaxDocuments:
		return fmt.Sprintf("more than %d documents: want one", MaxDocuments)
	}
	return ""
}

// key is the first token of the key before a colon, and how long the key is. The parser has no key of more than a line.
func key(colon *token.Token) (first *token.Token, long int) {
	first = colon
	for p := colon.Prev; p != nil && p.Position.Line == colon.Position.Line; p = p.Prev {
		switch p.Type {
		case token.SequenceStartType, token.MappingStartType, token.SequenceEndType, token.MappingEndType,
			token.CollectEntryType,
			token.SequenceEntryType, token.MappingValueType, token.DocumentHeaderType, token.DocumentEndType:
			return first, long
		}
		first, long = p, long+len(p.Value)
	}
	return first, long
}

// leftOut reports whether the parser may have to make up a value behind a colon, a dash or a tag. The value is that of
// owner, a colon or dash, whose entry begins at from.
func leftOut(t, owner, from *token.Token) bool {
	switch t.Type {
	case token.MappingValueType, token.SequenceEntryType, token.TagType:
	default:
		return false
	}
	next := t.Next
	for next != nil && next.Type == token.CommentType {
		next = next.Next
	}
	if next == nil {
		return true
	}
	switch next.Type {
	case token.CollectEntryType, token.MappingEndType, token.SequenceEndType, token.DocumentHeaderType,
		token.DocumentEndType:
		return true
	case token.SequenceEntryType:
		if owner.Type == token.MappingValueType { // a list may stand right below its key
			return next.Position.Column < from.Position.Column
		}
	}
	return next.Position.Line != t.Position.Line && next.Position.Column <= from.Position.Column
}
