package exclusion

import (
	"iter"

	"skep/grid"
)

const (
	// MaxVainPulls is how often a task is taken from a queue for a node that does not get it; then it stays there.
	MaxVainPulls = 3

	// maxVainOfNode is how often for the same node; then it is not taken for that one any more.
	maxVainOfNode = 2
)

// VainPulls are the nodes for which a task was taken from a queue that did not get it, once for each time. What kept
// the task from a node the first time may be over when it is idle again, as too many late attempts. The zero value is
// empty.
type VainPulls []grid.NodeID

// Add adds a vain pull of a node.
func (v *VainPulls) Add(id grid.NodeID) { *v = append(*v, id) }

// Bars reports whether a node has pulled the task in vain as often as it may.
func (v VainPulls) Bars(id grid.NodeID) bool {
	times := 0
	for _, x := range v {
		if x == id {
			times++
		}
	}
	return times >= maxVainOfNode
}

// Barred yields the nodes that have pulled it in vain as often as they may, some of them repeatedly.
func (v VainPulls) Barred() iter.Seq[grid.NodeID] {
	return func(yield func(grid.NodeID) bool) {
		for _, id := range v {
			if v.Bars(id) && !yield(id) {
				return
			}
		}
	}
}

// Exhausted reports whether the task stays in its queue.
func (v VainPulls) Exhausted() bool { return len(v) >= MaxVainPulls }
