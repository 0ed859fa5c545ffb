package coordinator

import (
	"slices"

	"skep/grid"
	"skep/heap"
	"skep/node/turns"
)

// The queue of jobs with untried tasks, in the order of the node (package turns). A job that can do nothing now, as a
// node on probation must deliver first or no majority of its register answers, is set aside: thousands of such jobs
// cost nothing until that changes.

// jobQueue is the jobs with untried tasks, and those that wait for a majority. Jobs keep their index in turns, counted
// from 1.
type jobQueue struct {
	turns            turns.Queue[*job]
	lastTurn         uint64 // last turn given
	awaitingMajority []*job // something of them waits for a majority of their registers
	toCancel         []*job // too many of their tasks have failed, or their deadline is over
	gangs            gangQueue
	deadlines        deadlineWatch
}

// enqueueJob puts a job at the end of the queue.
func (c *Coordinator) enqueueJob(j *job) {
	c.dequeueJob(j)
	c.queue.lastTurn++
	j.turn = c.queue.lastTurn
	c.pushJob(j)
	if len(j.spec.After.Jobs) > 0 {
		c.changed(grid.JobChange{Kind: grid.JobHeld, Job: j.id})
	}
}

// dequeueJob takes a job out of the queue, also one set aside.
func (c *Coordinator) dequeueJob(j *job) {
	if j.setAside = false; j.queueIndex > 0 {
		c.queue.turns.Remove(j.line, j.queueIndex-1)
	}
}

// requeueJob returns a job that was set aside to its old position.
func (c *Coordinator) requeueJob(j *job) {
	if j.setAside {
		j.setAside = false
		c.pushJob(j)
	}
}

// awaitMajority records that something of the job waits for a majority of its register.
func (c *Coordinator) awaitMajority(j *job) {
	if !j.awaitingMajority {
		j.awaitingMajority = true
		c.queue.awaitingMajority = append(c.queue.awaitingMajority, j)
	}
}

// dropUnowned removes jobs that are over or that this node no longer owns: nothing of them waits for a majority.
func (c *Coordinator) dropUnowned() {
	c.queue.awaitingMajority = slices.DeleteFunc(c.queue.awaitingMajority, func(j *job) bool {
		j.awaitingMajority = j.leads()
		return !j.awaitingMajority
	})
}

// resumeJob resumes what waited for a majority of the job's register.
func (c *Coordinator) resumeJob(now grid.Time, j *job, fx *grid.Effects) {
	c.placeUnreported(now, j, fx)
	j.replica.leasesDenied = false
	c.changed(grid.JobChange{Kind: grid.JobLeased, Job: j.id})
	for rep := j.replica; len(rep.awaitingMajority) > 0; {
		c.resumeTask(rep.awaitingMajority[len(rep.awaitingMajority)-1])
	}
	c.requeueJob(j)
}

// ResumeJobs resumes all jobs of which a majority answers now.
func (c *Coordinator) ResumeJobs(now grid.Time, fx *grid.Effects) {
	c.queue.awaitingMajority = slices.DeleteFunc(c.queue.awaitingMajority, func(j *job) bool {
		if c.mayAct(now, j) {
			c.resumeJob(now, j, fx)
			j.awaitingMajority = false
		} else if r := j.replica; len(r.awaitingMajority) == 0 && !j.setAside && !r.leasesDenied && r.graceUntil == 0 {
			j.awaitingMajority = false // nothing of it waits any more
		}
		return !j.awaitingMajority
	})
}

// retryQueue is the tasks to place again, oldest submission first. Each task knows its index, so one of a hundred
// thousand is removed without a search.
type retryQueue = heap.Heap[grid.Time, *liveTask, byHandle]

// byHandle orders the tasks of jobs that arrived at the same time.
type byHandle struct{}

// Before implements [heap.Order].
func (byHandle) Before(a, b *liveTask) bool { return a.handle < b.handle }

func (l *liveTask) setQueueIndex(i int) { l.queueIndex = i }

// retry puts a task back into the queue, ahead of younger ones.
func (c *Coordinator) retry(l *liveTask) {
	c.live.release(l)
	c.live.retries.Push(l.request.Arrived, l)
}

// maxRetriesPerProof bounds the waiting tasks that retry when a result was delivered here or elsewhere.
const maxRetriesPerProof = 4

// ResumeAwaitingProof resumes some of the tasks that wait for a node on probation to deliver.
func (c *Coordinator) ResumeAwaitingProof() {
	for i, left := 0, min(maxRetriesPerProof, c.live.waiting.unproven); i < len(c.live.waiting.list) && left > 0; {
		if l := c.live.waiting.list[i]; l.awaits == awaitProof {
			l.lookAgain = true
			c.resumeTask(l)
			left--
			continue
		}
		i++
	}
}

// parkTask makes a task wait until its timer, or what it awaits, resumes it.
func (c *Coordinator) parkTask(l *liveTask, a awaited) {
	c.live.wait(l)
	l.awaits = a
	if a == awaitMajority {
		rep := l.job.replica
		l.queueIndex, rep.awaitingMajority = len(rep.awaitingMajority), append(rep.awaitingMajority, l)
		c.awaitMajority(l.job)
		return
	}
	switch a {
	case awaitProof:
		l.job.heldBack++
		c.live.waiting.unproven++
	case awaitMapping:
		l.job.heldBack++
		c.live.waiting.unmapped++
	case awaitSlot:
		l.queueIndex, l.job.slotWaiters = len(l.job.slotWaiters), append(l.job.slotWaiters, l)
		return
	}
	c.slotFreed(l.job) // of one that was polled for
	l.queueIndex, c.live.waiting.list = len(c.live.waiting.list), append(c.live.waiting.list, l)
}

// dequeue removes a task from the queue that it is in, if any; one that waits is idle then.
func (c *Coordinator) dequeue(l *liveTask) {
	switch {
	case l.queueIndex == notQueued:
	case l.phase == waiting && l.awaits == awaitMajority:
		l.removeFrom(&l.job.replica.awaitingMajority)
		c.live.release(l)
	case l.phase == waiting && l.awaits == awaitSlot:
		l.removeFrom(&l.job.slotWaiters)
		c.live.release(l)
	case l.phase == waiting:
		l.removeFrom(&c.live.waiting.list)
		c.live.release(l)
		if l.awaits == awaitProof || l.awaits == awaitMapping {
			if c.live.waiting.unproven--; l.awaits == awaitMapping {
				c.live.waiting.unproven++
				c.live.waiting.unmapped--
			}
			if l.job.heldBack--; l.job.heldBack == 0 {
				c.requeueJob(l.job)
			}
		}
	default:
		c.live.retries.Remove(l.queueIndex)
	}
}

// removeFrom removes a task from a waiting list.
func (l *liveTask) removeFrom(list *[]*liveTask) {
	s, last := *list, len(*list)-1
	s[l.queueIndex] = s[last]
	s[l.queueIndex].queueIndex = l.queueIndex
	s[last] = nil
	*list, l.queueIndex = s[:last], notQueued
}

// PlaceNext begins the next placement decision, if there is one, and reports whether it did: of a task, else of all
// that await a mapping event.
func (c *Coordinator) PlaceNext(now grid.Time, fx *grid.Effects) bool {
	c.stopFailing(now, fx)
	return c.placeTask(now, fx) || c.mapWaiting(now, fx)
}

// placeTask begins the placement of the next task, if the window has room: first of those to place again, then of new
// ones in their turn.
func (c *Coordinator) placeTask(now grid.Time, fx *grid.Effects) bool {
	for c.live.retries.Len()+c.queue.turns.Len() > 0 && c.live.inFlight < c.cfg.Window {
		if c.live.retries.Len() > 0 {
			_, l := c.live.retries.Pop()
			if l.job.cancelled { // a bulk end has yet to come to it
				c.dropLive(l)
				continue
			}
			if !l.lookAgain && l.job.heldBack > 0 && !c.isMapped(l.job) { // another task of its job tries for all
				c.parkTask(l, awaitProof)
				continue
			}
			l.lookAgain = false
			if !c.awaitsSlotNow(now, l, l.job.polling, fx) {
				c.place(now, l, fx)
			}
			return true
		}
		j := c.queue.turns.First(now)
		if noMajority := !c.mayAct(now, j) && !c.mayPlan(j); noMajority || j.heldBack > 0 || j.isHeld() {
			c.queue.turns.Pop()
			if j.setAside = true; noMajority {
				c.awaitMajority(j)
			}
			continue
		}
		if j.isFull(j.polling) {
			j.setAside, j.awaitsSlot = true, true
			c.queue.turns.Pop()
			continue
		}
		if j.spec.IsGang() {
			c.placeGang(now, j, fx)
			return true
		}
		if c.awaitsBatch(j) {
			return false
		}
		for j.nextFresh < j.spec.Count && (j.state(j.nextFresh) != grid.Pending || j.at(j.nextFresh).live != nil ||
			c.skipsHeld(now, j, j.nextFresh, fx)) {
			j.nextFresh++
		}
		if j.nextFresh == j.spec.Count {
			c.queue.turns.Pop()
			c.allPlaced(j)
			continue
		}
		c.countTurns(now, j, 1)
		c.place(now, c.newLiveTask(j, j.nextFresh), fx)
		return true
	}
	return false
}
