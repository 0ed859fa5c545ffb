package node

import (
	"slices"

	"skep/grid"
)

// tombstones is the fence at the worker: the attempts that were let go of last, or said not to be here. An offer
// that was repeated on its way and comes after the attempt's end must not start it a second time. What is older
// than the newest few thousand is long past any delay of a message; a restart forgets them, and ends the connections they came on.
type tombstones struct {
	ids  []tombstone // oldest first, from next on
	next int
	in   map[tombstone]struct{} // the same, once they are many; only looked up in
}

// smallTombstones are looked through: most nodes of a large grid never let go of more.
const smallTombstones = 32

// maxTombstones is about what a node can end within two seconds, half a megabyte.
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
