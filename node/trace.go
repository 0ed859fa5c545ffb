package node

import (
	"encoding/binary"
	"time"

	"skep/grid"
)

// traces is the packed history of a task: appended to at every change, kept as long as the job, read only by people. An
// entry is its kind, flags of its non-zero fields, the time since the entry before, and those fields.
type traces []byte

// maxTraces bounds the entries of a task; the first and the newest are kept.
const maxTraces = 24

// Flags of an entry's non-zero fields.
const (
	hasNode  = 1 << iota // a node that differs from the last one named
	sameNode             // the last node named
	hasWhy
	hasChoice
)

// trace appends an entry to a task's history.
func (c *coordinator) trace(t *task, tr grid.Trace) {
	var before traceCursor
	count := t.traces.each(&before, nil)
	b := c.scratch.packed[:0]
	if count < maxTraces {
		b = before.write(b, &tr)
	} else {
		all := append(t.traces.list(), tr)
		before, t.traces = traceCursor{}, t.traces[:0]
		for i := range all {
			if i != maxTraces/3 {
				b = before.write(b, &all[i])
			}
		}
	}
	c.scratch.packed = b
	if len(t.traces)+len(b) > cap(t.traces) { // exact size: few entries follow
		t.traces = append(make(traces, 0, len(t.traces)+len(b)), t.traces...)
	}
	t.traces = append(t.traces, b...)
}

// rebase re-encodes the entries relative to another start.
func (s traces) rebase(was traceCursor, b []byte, is traceCursor) []byte {
	s.each(&was, func(tr grid.Trace) { b = is.write(b, &tr) })
	return b
}

// list decodes the entries, oldest first.
func (s traces) list() []grid.Trace {
	var all []grid.Trace
	s.each(new(traceCursor), func(tr grid.Trace) { all = append(all, tr) })
	return all
}

// last decodes the newest entry; its kind is 0 if there is none.
func (s traces) last() grid.Trace {
	var newest grid.Trace
	s.each(new(traceCursor), func(tr grid.Trace) { newest = tr })
	return newest
}

// traceCursor is the state of delta coding: the time and node of the entry before.
type traceCursor struct {
	at   grid.Time
	node grid.NodeID
}

func (p *traceCursor) write(b []byte, tr *grid.Trace) []byte {
	has := byte(0)
	switch {
	case tr.Node.IsZero():
	case tr.Node == p.node:
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
	b = binary.AppendVarint(b, int64(tr.At-p.at))
	p.at = tr.At
	if has&hasNode != 0 {
		p.node = tr.Node
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
func (s traces) each(p *traceCursor, f func(grid.Trace)) int {
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
		p.at += grid.Time(number())
		tr.At = p.at
		if has&hasNode != 0 {
			s = s[copy(p.node[:], s):]
		}
		if has&(hasNode|sameNode) != 0 {
			tr.Node = p.node
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
