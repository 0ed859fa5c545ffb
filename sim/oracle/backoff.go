package oracle

import (
	"skep/grid"
	"skep/node"
)

// Which nodes an owner keeps work from, for what they have not delivered. A node's own view tells, as it is after each
// record about an attempt there: only while its back-off runs may work wait beside the idle node.

// backoffs is what a node's back-offs are asked of.
type backoffs interface {
	Backoff(now grid.Time, class string, id grid.NodeID) node.Backoff
}

// noteBackoffs notes the back-offs of the workers of the attempts that a step's records are about.
func (b *Books) noteBackoffs(i int32, fx *grid.Effects) {
	if b.hindsight == nil {
		return
	}
	m, ok := b.machines[i].member.(interface {
		Member
		backoffs
	})
	for k := range fx.Saves {
		r := &fx.Saves[k]
		if !ok || r.Kind != grid.RecEntry || r.Delete || r.Entry.Worker.IsZero() ||
			int32(r.Entry.ID.Task.Index) >= b.countOf(i, r.Entry.ID.Task.Job) {
			continue
		}
		n, worker := b.task(i, r.Entry.ID.Task), b.world.Index(r.Entry.Worker)
		at, clock := b.world.Time(), b.world.Clock(i)
		x := m.Backoff(clock, grid.ClassOf(b.jobs[b.tasks[n].job].spec), r.Entry.Worker)
		b.hindsight.note(at, classKept, worker, n, x.Class.Sub(clock).Seconds())
		b.hindsight.note(at, nodeKept, worker, n, x.Node.Sub(clock).Seconds())
		single := 0.0
		if x.Single {
			single = 1
		}
		b.hindsight.note(at, nodeSingle, worker, n, single)
	}
}

// kept is which nodes get no work of an origin at a time in the past.
type kept struct {
	class  map[classEdge]grid.Time // until then
	node   map[edge]grid.Time      // until then
	single map[edge]bool           // it gets one attempt at a time
	runs   map[edge]int32          // attempts that run there
	failed map[edge]bool           // a task, and a node that has not brought it to its end: it prefers others
}

// edge is an origin, or a task, and a node that ran a task of it.
type edge struct{ origin, node int32 }

// classEdge is an origin, a class of it, and a node that ran a task of it.
type classEdge struct {
	edge
	class string
}

func newKept() kept {
	return kept{map[classEdge]grid.Time{}, map[edge]grid.Time{}, map[edge]bool{}, map[edge]int32{}, map[edge]bool{}}
}

// learn takes what an owner has on record of a node.
func (x *kept) learn(m *moment, e classEdge) {
	until := m.keptUntil()
	switch m.kind {
	case classKept:
		x.class[e] = until
	case nodeKept:
		x.node[e.edge] = until
	case nodeSingle:
		x.single[e.edge] = m.value > 0
	}
}

// edge is a task's origin and class, and a node.
func (r *replay) edge(task, node int32) classEdge {
	j := &r.books.jobs[r.books.tasks[task].job]
	return classEdge{edge{j.origin, node}, grid.ClassOf(j.spec)}
}

// keptUntil is the end of the back-off that a moment says runs; the owner's clock may be slow.
func (m *moment) keptUntil() grid.Time {
	return m.at.Add(grid.Seconds(max(m.value, 0) * (1 + clockSlack)))
}

// backoffEnds are the moments at which back-offs end by themselves.
func (h *Hindsight) backoffEnds() (ends []moment) {
	for k := range h.past {
		if m := &h.past[k]; (m.kind == classKept || m.kind == nodeKept) && m.value > 0 {
			ends = append(ends, moment{m.keptUntil(), backoffOver, m.node, m.task, 0})
		}
	}
	return ends
}

// keeps reports whether a task is kept from a node at a time.
func (x *kept) keeps(now grid.Time, task int32, e classEdge) bool {
	return now < x.class[e] || now < x.node[e.edge] || x.single[e.edge] && x.runs[e.edge] > 0 ||
		x.failed[edge{task, e.node}]
}

// excused reports whether a task need not go to a node: a back-off keeps it from there, and another node could run it.
func (r *replay) excused(now grid.Time, task, node int32) bool {
	return r.keeps(now, task, r.edge(task, node)) && r.others(now, task, node)
}

// others reports whether another node could run a task, busy or not, that it is not kept from.
func (r *replay) others(now grid.Time, task, but int32) bool {
	j := &r.books.jobs[r.books.tasks[task].job]
	for i := range int32(len(r.open)) {
		if i != but && r.reachable(i, now) && r.truth.RunTime(task, i) > 0 &&
			r.books.machines[i].capacity.Fits(j.spec.Needs.Resources) && !r.keeps(now, task, r.edge(task, i)) {
			return true
		}
	}
	return false
}
