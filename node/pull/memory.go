package pull

import (
	"slices"
	"time"

	"skep/grid"
)

// memory is a time until which something is not repeated, for a bounded number of nodes.
type memory []entry

type entry struct {
	node  grid.NodeID
	until grid.Time
	delay time.Duration
	mute  bool // it did not answer, and has not since
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

// quiet reports whether a node is not remembered, or its time has passed long ago.
func (m memory) quiet(id grid.NodeID, now grid.Time, long time.Duration) bool {
	at := m.find(id)
	return at < 0 || now.Sub(m[at].until) > long
}

// set sets the time of a node, and the delay that double doubles.
func (m *memory) set(id grid.NodeID, until grid.Time, delay time.Duration) {
	e := m.open(id)
	e.until, e.delay, e.mute = until, delay, false
}

// again ends the time of a node that did not answer, and reports whether it did: not if that node has not answered
// since the last time either.
func (m *memory) again(id grid.NodeID, now grid.Time) bool {
	e := m.open(id)
	if e.mute {
		return false
	}
	if now.Sub(e.until) > maxBackoff {
		e.delay = 0
	}
	e.until, e.mute = now, true
	return true
}

// answered notes that a node has answered.
func (m memory) answered(id grid.NodeID) {
	if at := m.find(id); at >= 0 {
		m[at].mute = false
	}
}

// double sets the time of a node to a delay from now, twice as long each time. It begins anew once the node has been
// left alone for most.
func (m *memory) double(id grid.NodeID, now grid.Time, first, most time.Duration) {
	e := m.open(id)
	if now.Sub(e.until) > most {
		e.delay = 0
	}
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
		if len(*m) == maxKnown { // the one that may be asked again first
			first := 0
			for i := range *m {
				if (*m)[i].until < (*m)[first].until {
					first = i
				}
			}
			*m = slices.Delete(*m, first, first+1)
		}
		at, *m = len(*m), append(*m, entry{node: id})
	}
	return &(*m)[at]
}
