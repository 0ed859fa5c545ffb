package coordinator

import (
	"cmp"
	"slices"

	"skep/grid"
	"skep/heap"
)

// cancelBarrier holds back the answer to a cancel while a worker may still start an attempt of the job. It is lowered
// when every worker has confirmed that it does not have its attempt, or when no start lease can be valid any more:
// the takeover delay wait(L) after the last grant.
type cancelBarrier struct {
	until       grid.Time
	askedAt     grid.Time       // time of the last Ask to the workers
	outstanding []issuedAttempt // attempts at other nodes, by task index
	unconfirmed int             // number of outstanding attempts that are not confirmed
	callers     []uint64
	heapIndex   int // in cancelBarriers.jobs
}

// cancelBarriers are the cancelled jobs whose barrier is raised.
type cancelBarriers struct {
	jobs barrierHeap
	wake grid.Time // time of the next check
}

// barrierHeap is the jobs by the time of the next check of their barriers.
type barrierHeap = heap.Heap[grid.Time, *job, byJobID]

// byJobID orders jobs that are to be checked at the same time.
type byJobID struct{}

// Before implements [heap.Order].
func (byJobID) Before(a, b *job) bool { return a.id.Compare(b.id) < 0 }

func (j *job) setBarrierIndex(i int) { j.barrier.heapIndex = i }

// issuedAttempt is an attempt that was given to a worker.
type issuedAttempt struct {
	id        grid.AttemptID
	worker    grid.NodeID
	confirmed bool
}

// startsPossible extends the job's quiet time: an attempt is given up, and its worker may still have it.
func (c *Coordinator) startsPossible(now grid.Time, j *job, worker grid.NodeID) {
	if !c.isHere(worker) {
		j.quietAt = max(j.quietAt, now.Add(c.cfg.TakeoverDelay))
	}
}

// raiseBarrier lists, before the job's tasks are ended, the attempts that other nodes may have. This node drops its own
// within the step.
func (c *Coordinator) raiseBarrier(now grid.Time, j *job, fx *grid.Effects) {
	add := func(id grid.AttemptID, worker grid.NodeID, b *cancelBarrier) {
		if c.isHere(worker) {
			m := fx.About(worker, grid.KindDrop)
			m.Attempts = append(m.Attempts, id)
			return
		}
		b.outstanding = append(b.outstanding, issuedAttempt{id: id, worker: worker})
	}
	b := &cancelBarrier{until: now.Add(c.cfg.TakeoverDelay)}
	for i, t := range j.known() {
		if t.state == grid.Offered || t.state == grid.Placed {
			add(j.attempt(i), t.worker, b)
		}
		if l := t.live; l != nil && l.backup != nil {
			add(l.backupID(), l.backup.worker, b)
		}
	}
	b.unconfirmed = len(b.outstanding)
	if old := j.barrier; old != nil { // an earlier cancel was not completed
		c.barriers.jobs.Remove(old.heapIndex)
		b.callers = old.callers
	}
	j.barrier = b
	c.barriers.jobs.Push(0, j)
}

// awaitBarrier answers the caller of a cancel once no attempt of the job can start.
func (c *Coordinator) awaitBarrier(now grid.Time, j *job, caller uint64, fx *grid.Effects) {
	if j.barrier == nil && now < j.quietAt {
		j.barrier = &cancelBarrier{until: j.quietAt}
		c.barriers.jobs.Push(0, j)
	}
	if j.barrier == nil {
		fx.Reply(caller, j.id, "")
		return
	}
	j.barrier.callers = append(j.barrier.callers, caller)
	c.checkBarrier(now, j, len(fx.Sends), fx)
	c.wakeBarriers(now, fx)
}

// confirmStopped records that a worker does not have an attempt of a cancelled job, or that the attempt has ended
// there. It reports whether that confirmed an outstanding attempt.
func (c *Coordinator) confirmStopped(now grid.Time, from grid.NodeID, id grid.AttemptID, fx *grid.Effects) bool {
	j := c.job(id.Task.Job)
	if j == nil || j.barrier == nil {
		return false
	}
	b := j.barrier
	at, ok := slices.BinarySearchFunc(b.outstanding, id.Task.Index,
		func(o issuedAttempt, i uint32) int { return cmp.Compare(o.id.Task.Index, i) })
	if ok && b.outstanding[at].id != id && at+1 < len(b.outstanding) { // a backup attempt follows its primary
		at++
	}
	if !ok || b.outstanding[at].confirmed || b.outstanding[at].id != id || b.outstanding[at].worker != from {
		return false
	}
	b.outstanding[at].confirmed = true
	if b.unconfirmed--; b.unconfirmed == 0 {
		c.checkBarrier(now, j, len(fx.Sends), fx)
		c.wakeBarriers(now, fx)
	}
	return true
}

// checkBarriers checks the barriers that are due.
func (c *Coordinator) checkBarriers(now grid.Time, fx *grid.Effects) {
	for firstSend := len(fx.Sends); c.barriers.jobs.Len() > 0; {
		due, j := c.barriers.jobs.First()
		if due > now {
			break
		}
		c.checkBarrier(now, j, firstSend, fx)
	}
	c.wakeBarriers(now, fx)
}

// checkBarrier lowers the job's barrier and answers its callers if nothing can start any more; else it asks the
// workers again, at most once in a sixth of a lease.
func (c *Coordinator) checkBarrier(now grid.Time, j *job, firstSend int, fx *grid.Effects) {
	b := j.barrier
	if now >= b.until || b.unconfirmed == 0 && now >= j.quietAt {
		c.lowerBarrier(j)
		c.replyAll(&b.callers, j.id, fx)
		c.packing = append(c.packing, j)
		return
	}
	next := b.until
	if b.unconfirmed == 0 {
		next = min(next, j.quietAt)
	} else {
		if b.askedAt == 0 || now >= b.askedAt.Add(c.cfg.Lease/6) {
			b.askedAt = now
			b.askWorkers(firstSend, fx)
		}
		next = min(next, b.askedAt.Add(c.cfg.Lease/6))
	}
	c.barriers.jobs.Update(b.heapIndex, next)
}

// lowerBarrier removes the job's barrier.
func (c *Coordinator) lowerBarrier(j *job) {
	c.barriers.jobs.Remove(j.barrier.heapIndex)
	j.barrier = nil
}

// wakeBarriers schedules the next check.
func (c *Coordinator) wakeBarriers(now grid.Time, fx *grid.Effects) {
	if c.barriers.jobs.Len() == 0 {
		return
	}
	if next, _ := c.barriers.jobs.First(); c.barriers.wake <= now || next < c.barriers.wake {
		c.barriers.wake = max(next, now)
		fx.Wake(c.barriers.wake, grid.TimerRegister, barrierKey)
	}
}

// askWorkers sends Ask for the unconfirmed attempts. A worker that answers that it has none also refuses a late offer
// of it.
func (b *cancelBarrier) askWorkers(firstSend int, fx *grid.Effects) {
	for k := range b.outstanding {
		if o := &b.outstanding[k]; !o.confirmed {
			m := fx.About(o.worker, grid.KindAsk)
			m.Attempts = append(m.Attempts, o.id)
		}
	}
}
