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

func (p *tombstones) add(id tombstone) {
	if p.has(id) {
		return
	}
	if len(p.ids) == smallTombstones {
		p.in = make(map[tombstone]struct{})
		for _, old := range p.ids {
			p.in[old] = struct{}{}
		}
	}
	if len(p.ids) >= smallTombstones {
		p.in[id] = struct{}{}
	}
	if len(p.ids) < maxTombstones {
		p.ids = append(grid.Room(p.ids, minGrowth), id)
		return
	}
	delete(p.in, p.ids[p.next])
	p.ids[p.next] = id
	p.next = (p.next + 1) % maxTombstones
}

func (p *tombstones) has(id tombstone) bool {
	if len(p.ids) <= smallTombstones {
		return slices.Contains(p.ids, id)
	}
	_, in := p.in[id]
	return in
}
