package node

import (
	"slices"

	"skep/grid"
)

// past is the fence at the worker: the attempts that were let go of last, or said not to be here. An offer
// that was repeated on its way and comes after the attempt's end must not start it a second time. What is older
// than the newest few thousand is long past any delay of a message; a restart forgets them, and ends the connections they came on.
type past struct {
	ids  []fenced // oldest first, from next on
	next int
	in   map[fenced]struct{} // the same, once they are many; only looked up in
}

// fewPast are looked through: most nodes of a large grid never let go of more.
const fewPast = 32

// keepPast is about what a node can end within two seconds, half a megabyte.
const keepPast = 4096

func (p *past) add(id fenced) {
	if p.has(id) {
		return
	}
	if len(p.ids) == fewPast {
		p.in = make(map[fenced]struct{})
		for _, old := range p.ids {
			p.in[old] = struct{}{}
		}
	}
	if len(p.ids) >= fewPast {
		p.in[id] = struct{}{}
	}
	if len(p.ids) < keepPast {
		p.ids = append(grid.Room(p.ids, few), id)
		return
	}
	delete(p.in, p.ids[p.next])
	p.ids[p.next] = id
	p.next = (p.next + 1) % keepPast
}

func (p *past) has(id fenced) bool {
	if len(p.ids) <= fewPast {
		return slices.Contains(p.ids, id)
	}
	_, in := p.in[id]
	return in
}
