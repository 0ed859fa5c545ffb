package rounds

import (
	"iter"
	"maps"
	"slices"
)

// perBoot is the distance between the first rounds of two runs of an owner.
const perBoot = 1 << 20

// Gangs are the gangs that a node places: each is a J that has a handle.
type Gangs[J comparable] struct {
	by   map[uint64]J // by handle; iterated in order of the handles alone
	turn J            // whose round is under way; zero = none
	next []J          // that wait for their turn
	last uint32       // number of the last round of any gang
}

// New returns those of a run of a node, which has none yet.
func New[J comparable](boot uint64) Gangs[J] { return Gangs[J]{last: uint32(boot * perBoot)} }

// Add adds a gang.
func (g *Gangs[J]) Add(handle uint64, j J) {
	if g.by == nil {
		g.by = make(map[uint64]J)
	}
	g.by[handle] = j
}

// Get returns the gang of a handle; zero = it is not known any more.
func (g *Gangs[J]) Get(handle uint64) J { return g.by[handle] }

// Len is the number of gangs known.
func (g *Gangs[J]) Len() int { return len(g.by) }

// All iterates over the gangs, oldest first.
func (g *Gangs[J]) All() iter.Seq[J] {
	return func(yield func(J) bool) {
		for _, h := range slices.Sorted(maps.Keys(g.by)) {
			if !yield(g.by[h]) {
				return
			}
		}
	}
}

// Next numbers the next round.
func (g *Gangs[J]) Next() uint32 {
	g.last++
	return g.last
}

// Busy reports whether it is a gang's turn.
func (g *Gangs[J]) Busy() bool {
	var none J
	return g.turn != none
}

// Wait has a gang wait until the turn of another one is over, and reports whether it does: there may be none.
func (g *Gangs[J]) Wait(j J) bool {
	if !g.Busy() {
		return false
	}
	g.next = append(g.next, j)
	return true
}

// Begin makes it a gang's turn.
func (g *Gangs[J]) Begin(j J) { g.turn = j }

// End ends the turn of a gang, if it is its turn, and returns those that waited for that, in the order in which they
// came: one twice that came twice.
func (g *Gangs[J]) End(j J) (waited []J) {
	if g.turn != j {
		return nil
	}
	var none J
	waited, g.turn, g.next = g.next, none, nil
	return waited
}

// Drop forgets a gang whose turn it is not.
func (g *Gangs[J]) Drop(handle uint64) {
	j := g.by[handle]
	g.next = slices.DeleteFunc(g.next, func(o J) bool { return o == j })
	delete(g.by, handle)
}
