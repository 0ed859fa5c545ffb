package oracle

import "skep/grid"

// acquaintance is which nodes can know of each other: those that were connected at some time, and whom those know in
// turn. Nodes that have only ever heard of one that is gone for good stay apart.
type acquaintance struct{ parent []int32 }

func newAcquaintance(nodes int) acquaintance {
	a := acquaintance{parent: make([]int32, nodes)}
	for i := range a.parent {
		a.parent[i] = int32(i)
	}
	return a
}

// root is the node that stands for all that a node can know of.
func (a acquaintance) root(i int32) int32 {
	for a.parent[i] != i {
		a.parent[i] = a.parent[a.parent[i]]
		i = a.parent[i]
	}
	return i
}

// meet notes that two nodes are connected, and reports whether that is news.
func (a acquaintance) meet(i, j int32) bool {
	x, y := a.root(i), a.root(j)
	a.parent[x] = y
	return x != y
}

// know reports whether two nodes can know of each other.
func (a acquaintance) know(i, j int32) bool { return a.root(i) == a.root(j) }

// Met reports that two nodes are connected.
func (h *Hindsight) Met(at grid.Time, i, j int32) {
	if h != nil && h.met.meet(i, j) {
		h.note(at, nodesMet, i, j, 0)
	}
}
