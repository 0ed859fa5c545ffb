package balance

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"skep/grid"
)

// place is a node's index under the first bytes of its identity: few nodes are looked for often.
type place struct {
	head uint64
	node int32
}

// lookup returns the index of a node. Views are gone through in the order of identities, so the one after the last is
// looked at first.
func (r *rates) lookup(id *grid.NodeID) (int32, bool) {
	at := int(r.next)
	if at >= len(r.order) || r.ids[r.order[at].node] != *id {
		var ok bool
		if at, ok = r.find(id); !ok {
			return 0, false
		}
	}
	r.next = int32(at + 1)
	return r.order[at].node, true
}

// find returns where a node stands in order, or would. Which half it is in is as good as random, so the search adds a
// borrow in the place of a jump that would be guessed wrong every second time.
func (r *rates) find(id *grid.NodeID) (int, bool) {
	head := binary.BigEndian.Uint64(id[:])
	at, n := 0, len(r.order)
	for n > 0 {
		lower := n - n/2
		_, below := bits.Sub64(r.order[at+lower-1].head, head, 0)
		at += lower & -int(below)
		n /= 2
	}
	for ; at < len(r.order) && r.order[at].head == head; at++ {
		have := &r.ids[r.order[at].node]
		if *have == *id {
			return at, true
		}
		if have.Compare(*id) > 0 {
			break
		}
	}
	return at, false
}

// named is the classes that a column names, shared by all columns that name the same ones.
type named struct {
	classes []int32
	columns int
}

func (l *named) list() []int32 {
	if l == nil {
		return nil
	}
	return l.classes
}

// naming returns the shared list of those classes in the place of the one that a column had.
func (r *rates) naming(was *named, list []int32) *named {
	if slices.Equal(was.list(), list) {
		return was
	}
	if was != nil {
		was.columns--
	}
	if len(list) == 0 {
		return nil
	}
	for _, l := range r.lists {
		if l != nil && l.columns > 0 && slices.Equal(l.classes, list) {
			l.columns++
			return l
		}
	}
	if was == nil || was.columns > 0 {
		was = new(named)
	}
	was.columns, was.classes = 1, append(was.classes[:0], list...)
	return was
}

// fewClasses are looked through.
const fewClasses = 16

// classOf returns the index of a class; false if no column names it.
func (r *rates) classOf(name string) (int32, bool) {
	if r.classes != nil {
		i, ok := r.classes[name]
		return i, ok
	}
	for i := range r.names {
		if r.names[i] == name && name != "" {
			return int32(i), true
		}
	}
	return 0, false
}
