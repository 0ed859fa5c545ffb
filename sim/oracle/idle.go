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
