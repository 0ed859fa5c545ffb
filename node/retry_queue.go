package node

import (
	"cmp"
	"container/heap"

	"skep/grid"
)

// notQueued is the queue index of a live task that is in no queue.
const notQueued = -1

// retryQueue is a heap of the tasks to place again, oldest submission first. Each task knows its index, so one of a
// hundred thousand is removed without a search.
type retryQueue []*liveTask

func (q retryQueue) Len() int { return len(q) }
func (q retryQueue) Less(i, k int) bool {
	return cmp.Or(cmp.Compare(q[i].request.Arrived, q[k].request.Arrived), cmp.Compare(q[i].handle, q[k].handle)) < 0
}

func (q retryQueue) Swap(i, k int) {
	q[i], q[k] = q[k], q[i]
	q[i].queueIndex, q[k].queueIndex = i, k
}

// Push implements [heap.Interface].
func (q *retryQueue) Push(x any) {
	l := x.(*liveTask)
	l.queueIndex = len(*q)
	*q = append(*q, l)
}

// Pop implements [heap.Interface].
func (q *retryQueue) Pop() any {
	old := *q
	l := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	l.queueIndex = notQueued
	return l
}

// retry puts a task back into the queue, ahead of younger ones.
func (n *Node) retry(l *liveTask) {
	l.phase = idle
	heap.Push(&n.retries, l)
}

// parkTask makes a task wait until its timer or a change resumes it; the waiting list has no order.
func (n *Node) parkTask(l *liveTask) {
	l.phase = waiting
	if l.awaitsMajority {
		rep := l.job.replica
		l.queueIndex, rep.awaitingMajority = len(rep.awaitingMajority), append(rep.awaitingMajority, l)
		n.awaitMajority(l.job)
		return
	}
	if l.awaitsProof {
		l.job.unproven++
		n.awaitingProof++
	}
	l.queueIndex, n.waiting = len(n.waiting), append(n.waiting, l)
}

// dequeue removes a task from the queue that it is in, if any.
func (n *Node) dequeue(l *liveTask) {
	switch {
	case l.queueIndex == notQueued:
	case l.phase == waiting && l.awaitsMajority:
		l.removeFrom(&l.job.replica.awaitingMajority)
		l.awaitsMajority = false
	case l.phase == waiting:
		l.removeFrom(&n.waiting)
		if l.awaitsProof {
			l.awaitsProof = false
			n.awaitingProof--
			if l.job.unproven--; l.job.unproven == 0 {
				n.requeueJob(l.job)
			}
		}
	default:
		heap.Remove(&n.retries, l.queueIndex)
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

// placeQueued begins placement decisions while the window has room: first the tasks to place again, then new ones in
// the order of submission.
func (n *Node) placeQueued(now grid.Time, fx *grid.Effects) {
	for n.inFlight < n.cfg.Window {
		if len(n.retries) > 0 {
			l := heap.Pop(&n.retries).(*liveTask)
			if !l.lookAgain && l.job.unproven > 0 { // another task of its job tries for all
				l.awaitsProof = true
				n.parkTask(l)
				continue
			}
			l.lookAgain = false
			n.place(now, l, fx)
			continue
		}
		if len(n.jobQueue) == 0 {
			return
		}
		j := n.jobQueue[0]
		if noMajority := !n.mayAct(now, j) && !n.mayPlan(j); noMajority || j.unproven > 0 {
			heap.Pop(&n.jobQueue)
			j.setAside = true
			if noMajority {
				n.awaitMajority(j)
			}
			continue
		}
		if n.awaitsBatch(j) {
			return
		}
		for j.nextFresh < j.spec.Count && (j.state(j.nextFresh) != grid.Pending || j.at(j.nextFresh).live != nil) {
			j.nextFresh++
		}
		if j.nextFresh == j.spec.Count {
			heap.Pop(&n.jobQueue)
			n.allPlaced(j)
			continue
		}
		n.place(now, n.newLiveTask(j, j.nextFresh), fx)
	}
}

// startFreed starts waiting attempts once all attempts of this step are dropped: the next in the queue may be one of
// those.
func (n *Node) startFreed(now grid.Time, fx *grid.Effects) {
	if n.freed {
		n.freed = false
		n.startReady(now, fx)
		n.adChanged(now, fx)
	}
}
