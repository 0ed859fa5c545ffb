package node

import (
	"skep/grid"
)

// retry puts a task back into the queue, ahead of younger ones.
func (c *coordinator) retry(l *liveTask) {
	c.live.become(l, idle)
	c.live.retries.Push(l.request.Arrived, l)
}

// maxRetriesPerProof bounds the waiting tasks that retry when a result was delivered here or elsewhere.
const maxRetriesPerProof = 4

// resumeAwaitingProof resumes some of the tasks that wait for a node on probation to deliver.
func (c *coordinator) resumeAwaitingProof() {
	left := min(maxRetriesPerProof, c.live.waiting.unproven)
	for i := 0; i < len(c.live.waiting.list) && left > 0; {
		if l := c.live.waiting.list[i]; l.awaitsProof {
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
	c.live.become(l, waiting)
	if l.awaitsMajority {
		rep := l.job.replica
		l.queueIndex, rep.awaitingMajority = len(rep.awaitingMajority), append(rep.awaitingMajority, l)
		c.awaitMajority(l.job)
		return
	}
	if l.awaitsProof {
		l.job.unproven++
		c.live.waiting.unproven++
	}
	l.queueIndex, c.live.waiting.list = len(c.live.waiting.list), append(c.live.waiting.list, l)
}

// dequeue removes a task from the queue that it is in, if any; one that waits is idle then.
func (c *coordinator) dequeue(l *liveTask) {
	switch {
	case l.queueIndex == notQueued:
	case l.phase == waiting && l.awaitsMajority:
		l.removeFrom(&l.job.replica.awaitingMajority)
		l.awaitsMajority = false
		c.live.become(l, idle)
	case l.phase == waiting:
		l.removeFrom(&c.live.waiting.list)
		c.live.become(l, idle)
		if l.awaitsProof {
			l.awaitsProof = false
			c.live.waiting.unproven--
			if l.job.unproven--; l.job.unproven == 0 {
				c.requeueJob(l.job)
			}
		}
	default:
		c.live.retries.Remove(l.queueIndex)
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
	for c.live.inFlight < c.cfg.Window {
		if c.live.retries.Len() > 0 {
			_, l := c.live.retries.Pop()
			if !l.lookAgain && l.job.unproven > 0 { // another task of its job tries for all
				l.awaitsProof = true
				c.parkTask(l)
				continue
			}
			l.lookAgain = false
			c.place(now, l, fx)
			return true
		}
		if c.queue.turns.Len() == 0 {
			return false
		}
		_, j := c.queue.turns.First()
		if noMajority := !c.mayAct(now, j) && !c.mayPlan(j); noMajority || j.unproven > 0 {
			c.queue.turns.Pop()
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
			c.queue.turns.Pop()
			c.allPlaced(j)
			continue
		}
		c.place(now, c.newLiveTask(j, j.nextFresh), fx)
		return true
	}
	return false
}
