package node

import (
	"container/heap"
	"slices"

	"skep/grid"
)

// The queue of jobs with untried tasks, in order of arrival. A job that can do nothing now, because a node on
// probation must deliver first or no majority of its register answers, is set aside: thousands of such jobs cost
// nothing until that changes.

// jobQueue is a heap by turn. Jobs keep their index in it, counted from 1.
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

// enqueueJob puts a job at the end of the queue.
func (n *Node) enqueueJob(j *job) {
	n.dequeueJob(j)
	n.lastTurn++
	j.turn = n.lastTurn
	heap.Push(&n.jobQueue, j)
}

// dequeueJob takes a job out of the queue, also one set aside.
func (n *Node) dequeueJob(j *job) {
	if j.setAside = false; j.queueIndex > 0 {
		heap.Remove(&n.jobQueue, j.queueIndex-1)
	}
}

// requeueJob returns a job that was set aside to its old position.
func (n *Node) requeueJob(j *job) {
	if j.setAside {
		j.setAside = false
		heap.Push(&n.jobQueue, j)
	}
}

// awaitMajority records that something of the job waits for a majority of its register.
func (n *Node) awaitMajority(j *job) {
	if !j.awaitingMajority {
		j.awaitingMajority = true
		n.awaitingMajority = append(n.awaitingMajority, j)
	}
}

// dropUnowned removes jobs that are over or that this node no longer owns: nothing of them waits for a majority.
func (n *Node) dropUnowned() {
	n.awaitingMajority = slices.DeleteFunc(n.awaitingMajority, func(j *job) bool {
		j.awaitingMajority = j.isOwner()
		return !j.awaitingMajority
	})
}

// resumeJob resumes what waited for a majority of the job's register.
func (n *Node) resumeJob(j *job) {
	n.freed = true // attempts on this node may start
	for rep := j.replica; len(rep.awaitingMajority) > 0; {
		n.resumeTask(rep.awaitingMajority[len(rep.awaitingMajority)-1])
	}
	n.requeueJob(j)
	works := n.exec.Of(j.id, n.scratch.works[:0])
	for _, w := range works {
		n.exec.Wake(w)
	}
	n.scratch.works = works
	clear(works)
}

// resumeJobs resumes all jobs of which a majority answers now.
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
