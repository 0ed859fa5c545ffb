package generation

import (
	"bytes"
	"slices"
	"time"

	"skep/grid"
)

// MaxKept bounds the nodes whose statements are kept: the size of a node's view.
const MaxKept = 256

// Book holds the newest statement of each node that has told one, and gives it back to that node. The node itself
// told it, so who signed it is looked at only by the node that it is shown to, which is the one to suffer from a false
// one. Invariant: at most MaxKept entries, sorted by node.
type Book struct{ entries []Entry }

// Entry is what a node told.
type Entry struct {
	Node     grid.NodeID
	Signed   []byte
	Heard    grid.Time     // on this process's clock; 0 = by an earlier process
	AgeThen  time.Duration // how old it was when this process began, of an earlier process
	Unsaved  bool
	contents Statement
}

func (b *Book) find(n grid.NodeID) (int, bool) {
	return slices.BinarySearchFunc(b.entries, n, func(e Entry, n grid.NodeID) int {
		return bytes.Compare(e.Node[:], n[:])
	})
}

// Heard takes a node's statement, which that node itself has told, and reports whether it is news. Of a node that
// goes back nothing is forgotten.
func (b *Book) Heard(now grid.Time, n grid.NodeID, signed []byte) bool {
	s, ok := read(signed)
	if !ok {
		return false
	}
	k, known := b.find(n)
	if known && !s.after(&b.entries[k].contents) {
		return false
	}
	b.put(Entry{Node: n, Signed: slices.Clone(signed), Heard: max(now, 1), Unsaved: true, contents: s})
	return true
}

// unknownAge is that of a statement of which nobody can say when it was heard. It is longer than a process runs: the
// node would take what it said before its start for the word of a copy that runs beside it.
const unknownAge = 100 * 365 * 24 * time.Hour

// Restore takes a statement that was saved by an earlier process and was that old when this one began; a negative age
// is that of a wall clock that was wrong then, or is now, as on a machine whose clock stands still without power.
func (b *Book) Restore(n grid.NodeID, signed []byte, age time.Duration) {
	if s, ok := read(signed); ok {
		if age < 0 {
			age = unknownAge
		}
		b.put(Entry{Node: n, Signed: slices.Clone(signed), AgeThen: age, contents: s})
	}
}

func (b *Book) put(e Entry) {
	k, known := b.find(e.Node)
	if known {
		b.entries[k] = e
		return
	}
	b.entries = slices.Insert(b.entries, k, e)
}

// Evict removes the entries beyond the bound, those heard longest ago first, and returns their nodes.
func (b *Book) Evict(now grid.Time) (evicted []grid.NodeID) {
	for len(b.entries) > MaxKept {
		oldest := 0
		for k := range b.entries {
			if b.entries[k].age(now) > b.entries[oldest].age(now) {
				oldest = k
			}
		}
		evicted = append(evicted, b.entries[oldest].Node)
		b.entries = slices.Delete(b.entries, oldest, oldest+1)
	}
	return evicted
}

// Known returns the newest statement of a node, and how long ago it was heard; nil = none.
func (b *Book) Known(now grid.Time, n grid.NodeID) (signed []byte, age time.Duration) {
	k, known := b.find(n)
	if !known {
		return nil, 0
	}
	return b.entries[k].Signed, b.entries[k].age(now)
}

func (e *Entry) age(now grid.Time) time.Duration {
	if e.Heard == 0 {
		return e.AgeThen + now.Sub(0)
	}
	return max(now.Sub(e.Heard), 0)
}

// Unsaved returns the entries that are to be saved, and takes them for saved.
func (b *Book) Unsaved() (entries []Entry) {
	for k := range b.entries {
		if e := &b.entries[k]; e.Unsaved {
			entries = append(entries, *e)
			e.Unsaved = false
		}
	}
	return entries
}
