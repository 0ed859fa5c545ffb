package node

import "skep/fifo"

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
