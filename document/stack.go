package document

import "github.com/goccy/go-yaml/token"

// stack is what lies around the place where a file is read.
type stack struct {
	levels []level   // brackets, keys and dashes
	open   []bracket // of them
	line   int       // of the last
	keys   int       // of the mapping of the last key
}

type level struct {
	column int
	keys   int // of the mapping so far, also where its last has a list right below
	path   int // bytes of keys, from the outermost
}

type bracket struct {
	depth   int // of what is in it
	mapping bool
	begin   *token.Token // its own, or the comma before the entry
	valued  bool         // the entry has a colon
}

// add adds what begins at a token. Outside brackets it ends what began as far to the right on lines before.
func (s *stack) add(t *token.Token, long int) {
	p := t.Position
	keys := 0
	if p.Line != s.line && len(s.open) == 0 {
		for n := len(s.levels); n > 0 && s.levels[n-1].column >= p.Column; n-- {
			if s.levels[n-1].column == p.Column {
				keys = s.levels[n-1].keys
			}
			s.levels = s.levels[:n-1]
		}
	}
	if n := len(s.levels); n > 0 {
		long += s.levels[n-1].path
	}
	s.levels, s.line = append(s.levels, level{p.Column, keys, long}), p.Line
}

// count counts the key that was added last.
func (s *stack) count() {
	at := &s.levels[len(s.levels)-1]
	if n := len(s.open); n > 0 {
		b := &s.open[n-1]
		b.valued = true
		if b.mapping {
			at = &s.levels[b.depth-1]
		}
	}
	at.keys++
	s.keys = at.keys
}

// end ends an entry at a comma or the bracket's end, and returns 1 if it is a key alone.
func (b *bracket) end(t *token.Token) int {
	alone := b.mapping && !b.valued && t.Prev != b.begin
	b.begin, b.valued = t, false
	if alone {
		return 1
	}
	return 0
}
