package node

import (
	"container/heap"
	"slices"

	"skep/grid"
)

// Jobs with tasks that were never looked at stand in a line, those that came first in front. Who can do nothing now, because somebody has to
// deliver first or no majority of its register answers, stands aside: of thousands that wait so none is looked at until that has changed.

// line holds them; each knows its place, counted from 1.
type line []*job

func (q line) Len() int           { return len(q) }
func (q line) Less(i, k int) bool { return q[i].turn < q[k].turn }

func (q line) Swap(i, k int) {
	q[i], q[k] = q[k], q[i]
	q[i].place, q[k].place = i+1, k+1
}

// Push implements [heap.Interface].
func (q *line) Push(x any) {
	j := x.(*job)
	*q = append(*q, j)
	j.place = len(*q)
}

// Pop implements [heap.Interface].
func (q *line) Pop() any {
	old := *q
	j := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	j.place = 0
	return j
}

// lineUp puts a job at the end of the line.
func (n *Node) lineUp(j *job) {
	n.stepOut(j)
	n.turns++
	j.turn = n.turns
	heap.Push(&n.fresh, j)
}

// stepOut takes a job out of the line, if it is there or aside.
func (n *Node) stepOut(j *job) {
	if j.aside = false; j.place > 0 {
		heap.Remove(&n.fresh, j.place-1)
	}
}

// rejoin gives a job that stood aside its old place.
func (n *Node) rejoin(j *job) {
	if j.aside {
		j.aside = false
		heap.Push(&n.fresh, j)
	}
}

// stall notes that something of a job waits for a majority of its register.
func (n *Node) stall(j *job) {
	if !j.stalled {
		j.stalled = true
		n.stalled = append(n.stalled, j)
	}
}

// letAlone forgets those that are over or that this node does not own any more: nothing of them waits for a majority.
func (n *Node) letAlone() {
	n.stalled = slices.DeleteFunc(n.stalled, func(j *job) bool {
		j.stalled = j.owned()
		return !j.stalled
	})
}

// proceed lets what waited for the majority of a job's register go on: one has answered now.
func (n *Node) proceed(j *job) {
	n.freed = true // what was placed here may start
	for g := j.guard; len(g.lone) > 0; {
		n.unwait(g.lone[len(g.lone)-1])
	}
	n.rejoin(j)
	works := n.exec.Of(j.id, n.scratch.works[:0])
	for _, w := range works {
		n.exec.Wake(w)
	}
	n.scratch.works = works
	clear(works)
}

// resumeStalled is proceed for all jobs of which a majority answers now.
func (n *Node) resumeStalled(now grid.Time) {
	n.freed = true
	n.stalled = slices.DeleteFunc(n.stalled, func(j *job) bool {
		if n.acts(now, j) {
			n.proceed(j)
			j.stalled = false
		} else if len(j.guard.lone) == 0 && !j.aside && n.posts[j.id] == nil { // nothing of it waits any more
			j.stalled = false
		}
		return !j.stalled
	})
}
