package worker

import (
	"skep/fifo"
	"skep/grid"
)

// tombstone names an attempt that this worker dropped. One that rests on hearsay does not block the origin's attempt
// of the same number.
type tombstone struct {
	grid.AttemptID
	hearsay bool
}

// tombstones are the newest attempts that this worker dropped, or said not to have. An offer that was delayed or
// repeated must not start such an attempt again. The bound exceeds any delay of a message; a restart forgets them, and
// closes the connections on which such offers travel.
type tombstones struct {
	newest fifo.Map[tombstone, struct{}]
}

// maxTombstones is about what a node can end within 2 s; it takes half a megabyte.
const maxTombstones = 4096

func (t *tombstones) add(id tombstone) {
	if t.has(id) {
		return
	}
	if t.newest.Len() == maxTombstones {
		t.newest.RemoveOldest()
	}
	t.newest.Add(id, struct{}{})
}

func (t *tombstones) has(id tombstone) bool { return t.newest.Get(id) != nil }

// contains reports whether an attempt has a tombstone: a verified one or, if hearsay is set, one that rests on hearsay.
func (t *tombstones) contains(id grid.AttemptID, hearsay bool) bool {
	return t.has(tombstone{id, false}) || hearsay && t.has(tombstone{id, true})
}
