package node

import (
	"container/heap"
	"slices"

	"skep/grid"
)

// Jobs with tasks that were never looked at stand in a line, those that came first in front. Who can do nothing now, because somebody has to
// deliver first or no majority of its register answers, stands aside: of thousands that wait so none is looked at until that has changed.

// jobQueue holds them; each knows its place, counted from 1.
type jobQueue []*job

func (q jobQueue) Len() int           { return len(q) }
func (q jobQueue) Less(i, k int) bool { return q[i].turn < q[k].turn }

func (q jobQueue) Swap(i, k int) {
	q[i], q[k] = q[k], q[i]
	q[i].queueIndex, q[k].queueIndex = i+1, k+1
}

// Push implements [heap.Interface].
func (q *jobQueue) Push(x any) {
	j := x.(*job)
	*q = append(*q, j)
	j.queueIndex = len(*q)
}

// Pop implements [heap.Interface].
func (q *jobQueue) Pop() any {
	old := *q
	j := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	j.queueIndex = 0
	return j
}

// enqueueJob puts a job at the end of the line.
func (n *Node) enqueueJob(j *job) {
	n.dequeueJob(j)
	n.lastTurn++
	j.turn = n.lastTurn
	heap.Push(&n.jobQueue, j)
}

// dequeueJob takes a job out of the line, if it is there or aside.
func (n *Node) dequeueJob(j *job) {
	if j.setAside = false; j.queueIndex > 0 {
		heap.Remove(&n.jobQueue, j.queueIndex-1)
	}
}

// requeueJob gives a job that stood aside its old place.
func (n *Node) requeueJob(j *job) {
	if j.setAside {
		j.setAside = false
		heap.Push(&n.jobQueue, j)
	}
}

// awaitMajority notes that something of a job waits for a majority of its register.
func (n *Node) awaitMajority(j *job) {
	if !j.awaitingMajority {
		j.awaitingMajority = true
		n.awaitingMajority = append(n.awaitingMajority, j)
	}
}

// dropUnowned forgets those that are over or that this node does not own any more: nothing of them waits for a majority.
func (n *Node) dropUnowned() {
	n.awaitingMajority = slices.DeleteFunc(n.awaitingMajority, func(j *job) bool {
		j.awaitingMajority = j.isOwner()
		return !j.awaitingMajority
	})
}

// resumeJob lets what waited for the majority of a job's register go on: one has answered now.
func (n *Node) resumeJob(j *job) {
	n.freed = true // what was placed here may start
	for g := j.replica; len(g.awaitingMajority) > 0; {
		n.resumeTask(g.awaitingMajority[len(g.awaitingMajority)-1])
	}
	n.requeueJob(j)
	works := n.exec.Of(j.id, n.scratch.works[:0])
	for _, w := range works {
		n.exec.Wake(w)
	}
	n.scratch.works = works
	clear(works)
}

// resumeJobs is proceed for all jobs of which a majority answers now.
func (n *Node) resumeJobs(now grid.Time) {
	n.freed = true
	n.awaitingMajority = slices.DeleteFunc(n.awaitingMajority, func(j *job) bool {
		if n.mayAct(now, j) {
			n.resumeJob(j)
			j.awaitingMajority = false
		} else if len(j.replica.awaitingMajority) == 0 && !j.setAside && n.ownerRecords[j.id] == nil { // nothing of it waits any more
			j.awaitingMajority = false
		}
		return !j.awaitingMajority
	})
}
