package node

import (
	"slices"

	"skep/grid"
)

// tombstones are the newest attempts that this worker dropped, or said not to have. An offer that was delayed or
// repeated must not start such an attempt again. The bound exceeds any delay of a message; a restart forgets them, and
// closes the connections on which such offers travel.
type tombstones struct {
	ids  []tombstone // a ring: oldest first, from next on
	next int
	in   map[tombstone]struct{} // the same as a set, above smallTombstones; never iterated
}

// smallTombstones is the size up to which the list is searched linearly: most nodes of a large grid never exceed it.
const smallTombstones = 32

// maxTombstones is about what a node can end within 2 s; it takes half a megabyte.
const maxTombstones = 4096

func (t *tombstones) add(id tombstone) {
	if t.has(id) {
		return
	}
	if len(t.ids) == smallTombstones {
		t.in = make(map[tombstone]struct{})
		for _, old := range t.ids {
			t.in[old] = struct{}{}
		}
	}
	if len(t.ids) >= smallTombstones {
		t.in[id] = struct{}{}
	}
	if len(t.ids) < maxTombstones {
		t.ids = append(grid.Room(t.ids, minGrowth), id)
		return
	}
	delete(t.in, t.ids[t.next])
	t.ids[t.next] = id
	t.next = (t.next + 1) % maxTombstones
}

func (t *tombstones) has(id tombstone) bool {
	if len(t.ids) <= smallTombstones {
		return slices.Contains(t.ids, id)
	}
	_, in := t.in[id]
	return in
}
