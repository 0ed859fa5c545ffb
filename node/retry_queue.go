package node

import (
	"skep/grid"
	"skep/heap"
)

// notQueued is the queue index of a live task that is in no queue.
const notQueued = -1

// retryQueue is the tasks to place again, oldest submission first. Each task knows its index, so one of a hundred
// thousand is removed without a search.
type retryQueue = heap.Heap[grid.Time, *liveTask, byHandle]

// byHandle orders the tasks of jobs that arrived at the same time.
type byHandle struct{}

// Before implements [heap.Order].
func (byHandle) Before(a, b *liveTask) bool { return a.handle < b.handle }

func (l *liveTask) setQueueIndex(i int) { l.queueIndex = i }

// retry puts a task back into the queue, ahead of younger ones.
func (c *coordinator) retry(l *liveTask) {
	l.phase = idle
	c.retries.Push(l.request.Arrived, l)
}

// waitingTasks are the tasks that wait for a timer, or for a change of the nodes known.
type waitingTasks struct {
	list     []*liveTask // in no order
	unproven int         // of them, those that wait for a node on probation to deliver
}

// maxRetriesPerProof bounds the waiting tasks that retry when a result was delivered here or elsewhere.
const maxRetriesPerProof = 4

// resumeAwaitingProof resumes some of the tasks that wait for a node on probation to deliver.
func (c *coordinator) resumeAwaitingProof() {
	left := min(maxRetriesPerProof, c.waiting.unproven)
	for i := 0; i < len(c.waiting.list) && left > 0; {
		if l := c.waiting.list[i]; l.awaitsProof {
			l.lookAgain = true
			c.resumeTask(l)
			left--
			continue
		}
		i++
	}
}

// parkTask makes a task wait until its timer or a change resumes it.
func (c *coordinator) parkTask(l *liveTask) {
	l.phase = waiting
	if l.awaitsMajority {
		rep := l.job.replica
		l.queueIndex, rep.awaitingMajority = len(rep.awaitingMajority), append(rep.awaitingMajority, l)
		c.awaitMajority(l.job)
		return
	}
	if l.awaitsProof {
		l.job.unproven++
		c.waiting.unproven++
	}
	l.queueIndex, c.waiting.list = len(c.waiting.list), append(c.waiting.list, l)
}

// dequeue removes a task from the queue that it is in, if any.
func (c *coordinator) dequeue(l *liveTask) {
	switch {
	case l.queueIndex == notQueued:
	case l.phase == waiting && l.awaitsMajority:
		l.removeFrom(&l.job.replica.awaitingMajority)
		l.awaitsMajority = false
	case l.phase == waiting:
		l.removeFrom(&c.waiting.list)
		if l.awaitsProof {
			l.awaitsProof = false
			c.waiting.unproven--
			if l.job.unproven--; l.job.unproven == 0 {
				c.requeueJob(l.job)
			}
		}
	default:
		c.retries.Remove(l.queueIndex)
	}
}

// removeFrom removes a task from a waiting list.
func (l *liveTask) removeFrom(list *[]*liveTask) {
	s := *list
	last := len(s) - 1
	s[l.queueIndex] = s[last]
	s[l.queueIndex].queueIndex = l.queueIndex
	s[last] = nil
	*list, l.queueIndex = s[:last], notQueued
}

// placeNext begins the next placement decision, if there is one and the window has room, and reports whether it did:
// first the tasks to place again, then new ones in the order of submission.
func (c *coordinator) placeNext(now grid.Time, fx *grid.Effects) bool {
	for c.inFlight < c.cfg.Window {
		if c.retries.Len() > 0 {
			_, l := c.retries.Pop()
			if !l.lookAgain && l.job.unproven > 0 { // another task of its job tries for all
				l.awaitsProof = true
				c.parkTask(l)
				continue
			}
			l.lookAgain = false
			c.place(now, l, fx)
			return true
		}
		if c.jobQueue.Len() == 0 {
			return false
		}
		_, j := c.jobQueue.First()
		if noMajority := !c.mayAct(now, j) && !c.mayPlan(j); noMajority || j.unproven > 0 {
			c.jobQueue.Pop()
			j.setAside = true
			if noMajority {
				c.awaitMajority(j)
			}
			continue
		}
		if c.awaitsBatch(j) {
			return false
		}
		for j.nextFresh < j.spec.Count && (j.state(j.nextFresh) != grid.Pending || j.at(j.nextFresh).live != nil) {
			j.nextFresh++
		}
		if j.nextFresh == j.spec.Count {
			c.jobQueue.Pop()
			c.allPlaced(j)
			continue
		}
		c.place(now, c.newLiveTask(j, j.nextFresh), fx)
		return true
	}
	return false
}
