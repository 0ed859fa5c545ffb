package oracle

import (
	"time"

	"skep/grid"
)

// Judgement is what the placement of tasks comes to in hindsight.
type Judgement struct {
	Regret  float64 // core-seconds in which places were idle that a waiting task should have had
	Busy    float64 // core-seconds in which attempts ran
	Longest Idle    // the longest time without a break in which a node had such a place
}

// Idle is a time in which a node had a place idle that a waiting task should have had.
type Idle struct {
	Node, Task int32 // the first such task
	From, To   grid.Time
}

// Lasted is how long that was.
func (x Idle) Lasted() time.Duration { return x.To.Sub(x.From) }

// CheckIdle fails the run if a node had a place idle for longer than that without a break, from a time on, that a
// waiting task should have had. It needs Watch.
func (b *Books) CheckIdle(from grid.Time, most time.Duration) {
	x := b.hindsight.Judge(from).Longest
	if x.Lasted() > most {
		b.fail(x.Node, "was idle from %v to %v while tasks waited that would have ended sooner there, first %s",
			time.Duration(x.From), time.Duration(x.To), b.taskName(x.Task))
	}
}

// idleness is how long the nodes have had places idle that waiting tasks should have had.
type idleness struct {
	last    []Idle  // by node
	now     []int32 // nodes that have such a place at the time looked at
	longest Idle
}

func newIdleness(nodes int) idleness {
	x := idleness{last: make([]Idle, nodes)}
	for i := range x.last {
		x.last[i].To = -1
	}
	return x
}

// found says that a node has a place idle at a time that a task should have.
func (x *idleness) found(at grid.Time, node, task int32) {
	if x.last[node].To != at {
		x.last[node] = Idle{node, task, at, at}
	}
	x.now = append(x.now, node)
}

// lasts says that those found have it until then.
func (x *idleness) lasts(until grid.Time) {
	for _, i := range x.now {
		if x.last[i].To = until; x.last[i].Lasted() > x.longest.Lasted() {
			x.longest = x.last[i]
		}
	}
	x.now = x.now[:0]
}

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
