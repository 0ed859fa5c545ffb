package node

import (
	"slices"

	"skep/grid"
	"skep/heap"
)

// The queue of jobs with untried tasks, in order of arrival. A job that can do nothing now, because a node on
// probation must deliver first or no majority of its register answers, is set aside: thousands of such jobs cost
// nothing until that changes.

// jobQueue is the jobs with untried tasks, and those that wait for a majority. Jobs keep their index in turns, counted
// from 1.
type jobQueue struct {
	turns            heap.Heap[uint64, *job, heap.Unique[*job]]
	lastTurn         uint64 // last turn given
	awaitingMajority []*job // something of them waits for a majority of their registers
}

func (j *job) setQueueIndex(i int) { j.queueIndex = i + 1 }

// enqueueJob puts a job at the end of the queue.
func (c *coordinator) enqueueJob(j *job) {
	c.dequeueJob(j)
	c.queue.lastTurn++
	j.turn = c.queue.lastTurn
	c.queue.turns.Push(j.turn, j)
}

// dequeueJob takes a job out of the queue, also one set aside.
func (c *coordinator) dequeueJob(j *job) {
	if j.setAside = false; j.queueIndex > 0 {
		c.queue.turns.Remove(j.queueIndex - 1)
	}
}

// requeueJob returns a job that was set aside to its old position.
func (c *coordinator) requeueJob(j *job) {
	if j.setAside {
		j.setAside = false
		c.queue.turns.Push(j.turn, j)
	}
}

// awaitMajority records that something of the job waits for a majority of its register.
func (c *coordinator) awaitMajority(j *job) {
	if !j.awaitingMajority {
		j.awaitingMajority = true
		c.queue.awaitingMajority = append(c.queue.awaitingMajority, j)
	}
}

// dropUnowned removes jobs that are over or that this node no longer owns: nothing of them waits for a majority.
func (c *coordinator) dropUnowned() {
	c.queue.awaitingMajority = slices.DeleteFunc(c.queue.awaitingMajority, func(j *job) bool {
		j.awaitingMajority = j.leads()
		return !j.awaitingMajority
	})
}

// resumeJob resumes what waited for a majority of the job's register.
func (c *coordinator) resumeJob(j *job) {
	j.replica.leasesDenied = false
	c.worker.OwnLeasesDue()
	for rep := j.replica; len(rep.awaitingMajority) > 0; {
		c.resumeTask(rep.awaitingMajority[len(rep.awaitingMajority)-1])
	}
	c.requeueJob(j)
}

// resumeJobs resumes all jobs of which a majority answers now.
func (c *coordinator) resumeJobs(now grid.Time) {
	c.queue.awaitingMajority = slices.DeleteFunc(c.queue.awaitingMajority, func(j *job) bool {
		if c.mayAct(now, j) {
			c.resumeJob(j)
			j.awaitingMajority = false
		} else if len(j.replica.awaitingMajority) == 0 && !j.setAside && !j.replica.leasesDenied { // nothing of it waits any more
			j.awaitingMajority = false
		}
		return !j.awaitingMajority
	})
}
