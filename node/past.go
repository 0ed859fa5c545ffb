package node

import (
	"slices"

	"skep/grid"
)

// past is the fence at the worker: the attempts that were let go of last, or said not to be here. An offer
// that was repeated on its way and comes after the attempt's end must not start it a second time. What is older than the newest
// few is long past any delay of a message; a restart forgets them, and ends the connections they came on.
type past struct {
	ids  []grid.AttemptID
	next int
}

const keepPast = 64

func (p *past) add(id grid.AttemptID) {
	if len(p.ids) < keepPast {
		p.ids = append(p.ids, id)
		return
	}
	p.ids[p.next] = id
	p.next = (p.next + 1) % keepPast
}

func (p *past) has(id grid.AttemptID) bool { return slices.Contains(p.ids, id) }
