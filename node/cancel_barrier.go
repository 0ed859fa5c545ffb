package node

import (
	"cmp"
	"container/heap"
	"slices"

	"skep/grid"
)

// cancelBarrier is a cancelled job of which a node may still start something. That is over when every worker has said that it
// does not have what it was given, or when no owner's word can hold any more: wait(L) after the last was given.
type cancelBarrier struct {
	until       grid.Time
	askedAt     grid.Time       // when the workers were asked last
	outstanding []issuedAttempt // what others had, by index of the task
	unconfirmed int             // of them, not known to be let go of
	callers     []uint64
	nextLook    grid.Time // when it is looked at next
	heapIndex   int       // in calms
}

// cancelBarriers are the cancelled jobs that callers wait for, or may.
type cancelBarriers struct {
	jobs barrierHeap
	wake grid.Time // when the first of them is looked at
}

// barrierHeap has the job in front that is looked at first.
type barrierHeap []*job

func (q barrierHeap) Len() int { return len(q) }

func (q barrierHeap) Less(i, k int) bool {
	return cmp.Or(cmp.Compare(q[i].barrier.nextLook, q[k].barrier.nextLook), q[i].id.Compare(q[k].id)) < 0
}

func (q barrierHeap) Swap(i, k int) {
	q[i], q[k] = q[k], q[i]
	q[i].barrier.heapIndex, q[k].barrier.heapIndex = i, k
}

// Push implements [heap.Interface].
func (q *barrierHeap) Push(x any) {
	j := x.(*job)
	j.barrier.heapIndex = len(*q)
	*q = append(*q, j)
}

// Pop implements [heap.Interface].
func (q *barrierHeap) Pop() any {
	old := *q
	j := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return j
}

// issuedAttempt is an attempt, and who was given it.
type issuedAttempt struct {
	id        grid.AttemptID
	worker    grid.NodeID
	confirmed bool
}

// startsPossible notes that an attempt is given up without knowing that its worker does not have it.
func (n *Node) startsPossible(now grid.Time, j *job, worker grid.NodeID) {
	if worker != n.cfg.Self {
		j.quietAt = max(j.quietAt, now.Add(takeoverDelay(n.cfg.Lease)))
	}
}

// raiseBarrier notes, before a job's tasks are ended, what others have of it.
func (n *Node) raiseBarrier(now grid.Time, j *job) {
	c := &cancelBarrier{until: now.Add(takeoverDelay(n.cfg.Lease))}
	for i, t := range j.known() {
		if (t.state == grid.Offered || t.state == grid.Placed) && t.worker != n.cfg.Self {
			c.outstanding = append(c.outstanding, issuedAttempt{id: j.attempt(i), worker: t.worker})
		}
		if l := t.live; l != nil && l.backup != nil && l.backup.worker != n.cfg.Self {
			c.outstanding = append(c.outstanding, issuedAttempt{id: l.backupID(), worker: l.backup.worker})
		}
	}
	c.unconfirmed = len(c.outstanding)
	if old := j.barrier; old != nil { // it was cancelled before, in vain
		heap.Remove(&n.barriers.jobs, old.heapIndex)
		c.callers = old.callers
	}
	j.barrier = c
	heap.Push(&n.barriers.jobs, j)
}

// awaitBarrier answers who cancelled a job, as soon as that is true.
func (n *Node) awaitBarrier(now grid.Time, j *job, caller uint64, fx *grid.Effects) {
	if j.barrier == nil && now < j.quietAt {
		j.barrier = &cancelBarrier{until: j.quietAt}
		heap.Push(&n.barriers.jobs, j)
	}
	if j.barrier == nil {
		fx.Reply(caller, j.id, "")
		return
	}
	j.barrier.callers = append(j.barrier.callers, caller)
	n.checkBarrier(now, j, len(fx.Sends), fx)
	n.wakeBarriers(now, fx)
}

// confirmStopped notes that a worker does not have an attempt of a cancelled job, or that it has ended there.
func (n *Node) confirmStopped(now grid.Time, from grid.NodeID, id grid.AttemptID, fx *grid.Effects) bool {
	j := n.job(id.Task.Job)
	if j == nil || j.barrier == nil {
		return false
	}
	c := j.barrier
	at, ok := slices.BinarySearchFunc(c.outstanding, id.Task.Index, func(o issuedAttempt, i uint32) int { return cmp.Compare(o.id.Task.Index, i) })
	if ok && c.outstanding[at].id != id && at+1 < len(c.outstanding) { // a second copy stands behind the first
		at++
	}
	if !ok || c.outstanding[at].confirmed || c.outstanding[at].id != id || c.outstanding[at].worker != from {
		return false
	}
	c.outstanding[at].confirmed = true
	if c.unconfirmed--; c.unconfirmed == 0 {
		n.checkBarrier(now, j, len(fx.Sends), fx)
		n.wakeBarriers(now, fx)
	}
	return true
}

// checkBarriers answers for the jobs of which nothing can start any more, and asks the workers of the others, where it is time for that.
func (n *Node) checkBarriers(now grid.Time, fx *grid.Effects) {
	for first := len(fx.Sends); len(n.barriers.jobs) > 0 && n.barriers.jobs[0].barrier.nextLook <= now; {
		n.checkBarrier(now, n.barriers.jobs[0], first, fx)
	}
	n.wakeBarriers(now, fx)
}

// checkBarrier does so for one job.
func (n *Node) checkBarrier(now grid.Time, j *job, first int, fx *grid.Effects) {
	c := j.barrier
	if now >= c.until || c.unconfirmed == 0 && now >= j.quietAt {
		n.lowerBarrier(j)
		n.replyAll(&c.callers, j.id, fx)
		n.packing = append(n.packing, j)
		return
	}
	c.nextLook = c.until
	if c.unconfirmed == 0 {
		c.nextLook = min(c.nextLook, j.quietAt)
	} else {
		if c.askedAt == 0 || now >= c.askedAt.Add(n.cfg.Lease/6) {
			c.askedAt = now
			c.askWorkers(first, fx)
		}
		c.nextLook = min(c.nextLook, c.askedAt.Add(n.cfg.Lease/6))
	}
	heap.Fix(&n.barriers.jobs, c.heapIndex)
}

// lowerBarrier notes that a cancelled job is not waited for any more.
func (n *Node) lowerBarrier(j *job) {
	heap.Remove(&n.barriers.jobs, j.barrier.heapIndex)
	j.barrier = nil
}

// wakeBarriers sees to the next look.
func (n *Node) wakeBarriers(now grid.Time, fx *grid.Effects) {
	if len(n.barriers.jobs) == 0 {
		return
	}
	if next := n.barriers.jobs[0].barrier.nextLook; n.barriers.wake <= now || next < n.barriers.wake {
		n.barriers.wake = max(next, now)
		fx.Wake(n.barriers.wake, grid.TimerRegister, barrierKey)
	}
}

// askWorkers asks who has not let go yet. Who answers that it has nothing takes no late offer of it either.
func (c *cancelBarrier) askWorkers(first int, fx *grid.Effects) {
	for k := range c.outstanding {
		if o := &c.outstanding[k]; !o.confirmed {
			m := attemptsMessage(fx, first, o.worker, grid.KindAsk)
			m.Attempts = append(m.Attempts, o.id)
		}
	}
}
