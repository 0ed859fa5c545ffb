package pull

import (
	"slices"
	"time"

	"skep/grid"
)

// memory is a time until which something is not repeated, for a few nodes; the oldest are forgotten.
type memory []entry

type entry struct {
	node  grid.NodeID
	until grid.Time
	delay time.Duration
}

func (m memory) find(id grid.NodeID) int {
	return slices.IndexFunc(m, func(e entry) bool { return e.node == id })
}

// until returns the time of a node; 0 = it is not remembered.
func (m memory) until(id grid.NodeID) grid.Time {
	if at := m.find(id); at >= 0 {
		return m[at].until
	}
	return 0
}

func (m *memory) set(id grid.NodeID, until grid.Time) { m.open(id).until = until }

// double sets the time of a node to a delay from now, twice as long each time.
func (m *memory) double(id grid.NodeID, now grid.Time, first, most time.Duration) {
	e := m.open(id)
	e.delay = min(max(first, 2*e.delay), most)
	e.until = now.Add(e.delay)
}

func (m *memory) forget(id grid.NodeID) {
	if at := m.find(id); at >= 0 {
		*m = slices.Delete(*m, at, at+1)
	}
}

// open returns the entry of a node, which is made if there is none.
func (m *memory) open(id grid.NodeID) *entry {
	at := m.find(id)
	if at < 0 {
		if len(*m) == maxKnown {
			*m = slices.Delete(*m, 0, 1)
		}
		at, *m = len(*m), append(*m, entry{node: id})
	}
	return &(*m)[at]
}
