package history

import (
	"encoding/binary"
	"time"

	"skep/grid"
)

// History is the packed history of a task: appended to at every change, kept as long as the job, read only by people.
// An entry is its kind, flags of its non-zero fields, the time since the entry before, and those fields.
type History []byte

// Max bounds the entries of a task; the first third and the newest are kept.
const Max = 24

// Flags of an entry's non-zero fields.
const (
	hasNode  = 1 << iota // a node that differs from the last one named
	sameNode             // the last node named
	hasWhy
	hasChoice
)

// Add appends an entry. It packs it in a buffer, which it returns for reuse.
func (s *History) Add(tr *grid.Trace, buffer []byte) []byte {
	var before Cursor
	b := buffer[:0]
	if count := s.each(&before, nil); count < Max {
		b = before.write(b, tr)
	} else {
		all := append(s.List(), *tr)
		before, *s = Cursor{}, (*s)[:0]
		for i := range all {
			if i != Max/3 {
				b = before.write(b, &all[i])
			}
		}
	}
	if len(*s)+len(b) > cap(*s) { // exact size: few entries follow
		*s = append(make(History, 0, len(*s)+len(b)), *s...)
	}
	*s = append(*s, b...)
	return b
}

// Rebase appends the entries to b, encoded relative to another start.
func (s History) Rebase(was Cursor, b []byte, is Cursor) []byte {
	s.each(&was, func(tr grid.Trace) { b = is.write(b, &tr) })
	return b
}

// List decodes the entries, oldest first.
func (s History) List() []grid.Trace {
	var all []grid.Trace
	s.each(new(Cursor), func(tr grid.Trace) { all = append(all, tr) })
	return all
}

// Last decodes the newest entry; its kind is 0 if there is none.
func (s History) Last() grid.Trace {
	var newest grid.Trace
	s.each(new(Cursor), func(tr grid.Trace) { newest = tr })
	return newest
}

// Cursor is the state of delta coding: the time and node of the entry before.
type Cursor struct {
	At   grid.Time
	Node grid.NodeID
}

func (p *Cursor) write(b []byte, tr *grid.Trace) []byte {
	has := byte(0)
	switch {
	case tr.Node.IsZero():
	case tr.Node == p.Node:
		has |= sameNode
	default:
		has |= hasNode
	}
	if tr.Refusal != (grid.Refusal{}) {
		has |= hasWhy
	}
	if tr.ECT != 0 || tr.News != 0 || tr.Asked != 0 {
		has |= hasChoice
	}
	b = append(b, byte(tr.What), has)
	b = binary.AppendVarint(b, int64(tr.At-p.At))
	p.At = tr.At
	if has&hasNode != 0 {
		p.Node = tr.Node
		b = append(b, tr.Node[:]...)
	}
	if has&hasWhy != 0 {
		b = append(b, byte(tr.Refusal.Why))
		b = append(binary.AppendUvarint(b, uint64(len(tr.Refusal.Detail))), tr.Refusal.Detail...)
	}
	if has&hasChoice != 0 {
		b = binary.AppendVarint(b, int64(tr.ECT))
		b = binary.AppendVarint(b, int64(tr.News))
		b = binary.AppendVarint(b, int64(tr.Asked))
	}
	return b
}

// each decodes all entries, calls f for each unless it is nil, and returns their number.
func (s History) each(p *Cursor, f func(grid.Trace)) int {
	count := 0
	number := func() int64 {
		v, n := binary.Varint(s)
		s = s[n:]
		return v
	}
	for ; len(s) > 0; count++ {
		tr := grid.Trace{What: grid.TraceKind(s[0])}
		has := s[1]
		s = s[2:]
		p.At += grid.Time(number())
		tr.At = p.At
		if has&hasNode != 0 {
			s = s[copy(p.Node[:], s):]
		}
		if has&(hasNode|sameNode) != 0 {
			tr.Node = p.Node
		}
		if has&hasWhy != 0 {
			tr.Refusal.Why = grid.Why(s[0])
			size, n := binary.Uvarint(s[1:])
			s = s[1+n:]
			if f != nil {
				tr.Refusal.Detail = string(s[:size])
			}
			s = s[size:]
		}
		if has&hasChoice != 0 {
			tr.ECT, tr.News, tr.Asked = time.Duration(number()), time.Duration(number()), int32(number())
		}
		if f != nil {
			f(tr)
		}
	}
	return count
}
