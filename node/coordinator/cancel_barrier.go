package coordinator

import (
	"iter"

	"skep/grid"
	"skep/heap"
	"skep/node/barrier"
)

// cancelling is what is still to be done for those who cancelled a job, or tasks of it.
type cancelling struct {
	barrier      *barrier.Barrier // something that was cancelled may still start; nil = no
	barrierIndex int              // in cancelBarriers.jobs
	quietAt      grid.Time        // attempts that were given up may start until then
}

// cancelBarriers are the jobs whose barrier is raised.
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

func (j *job) setBarrierIndex(i int) { j.barrierIndex = i }

// startsPossible extends the job's quiet time: an attempt is given up, and its worker, if any, may still have it.
func (c *Coordinator) startsPossible(now grid.Time, j *job, worker grid.NodeID) {
	if !worker.IsZero() && !c.isHere(worker) {
		j.quietAt = max(j.quietAt, now.Add(c.cfg.TakeoverDelay))
	}
}

// raiseBarrier lists, before tasks of a job are ended, the attempts that others may have. This node drops its own here.
func (c *Coordinator) raiseBarrier(now grid.Time, j *job, tasks iter.Seq2[uint32, *task], fx *grid.Effects) {
	b := barrier.New(now.Add(c.cfg.TakeoverDelay))
	add := func(id grid.AttemptID, worker grid.NodeID) {
		if c.isHere(worker) {
			m := fx.About(worker, grid.KindDrop)
			m.Attempts = append(m.Attempts, id)
			return
		}
		b.Add(id, worker)
	}
	for i, t := range tasks {
		if t.state == grid.Offered || t.state == grid.Placed {
			add(j.attempt(i), t.worker)
		}
		if l := t.live; l != nil && l.backup != nil {
			add(l.backupID(), l.backup.worker)
		}
	}
	if j.barrier != nil { // an earlier cancel was not completed
		b.Extend(j.barrier)
		c.lowerBarrier(j)
	}
	c.putBarrier(j, b)
}

// putBarrier raises a job's barrier, which is checked at once.
func (c *Coordinator) putBarrier(j *job, b *barrier.Barrier) {
	j.barrier = b
	c.barriers.jobs.Push(0, j)
}

// awaitBarrier answers the caller of a cancel once no attempt of what was cancelled can start.
func (c *Coordinator) awaitBarrier(now grid.Time, j *job, caller uint64, fx *grid.Effects) {
	if j.barrier == nil && now < j.quietAt {
		c.putBarrier(j, barrier.New(j.quietAt))
	}
	if j.barrier == nil {
		fx.Reply(caller, j.id, "")
		return
	}
	j.barrier.Await(caller)
	c.checkBarrier(now, j, fx)
	c.wakeBarriers(now, fx)
}

// awaitCurrent answers the caller of a cancel that ends nothing: all of it has ended. This node may be cut off, and
// another one go on with the tasks: a majority of the members has to know of no retry.
func (c *Coordinator) awaitCurrent(now grid.Time, j *job, caller uint64, fx *grid.Effects) {
	if j.replica.Sole() {
		c.awaitBarrier(now, j, caller, fx)
		return
	}
	j.replica.AskOpened(caller, now.Add(c.cfg.Confirm), c.reachMembers(now, j, fx), fx)
	c.scheduleTick(now, fx)
}

// confirmStopped records that a worker does not have an attempt of a cancelled task, or that the attempt has ended
// there. It reports whether that confirmed an outstanding attempt.
func (c *Coordinator) confirmStopped(now grid.Time, from grid.NodeID, id grid.AttemptID, fx *grid.Effects) bool {
	j := c.job(id.Task.Job)
	if j == nil || j.barrier == nil {
		return false
	}
	confirmed, last := j.barrier.Confirm(from, id)
	if last {
		c.checkBarrier(now, j, fx)
		c.wakeBarriers(now, fx)
	}
	return confirmed
}

// checkBarriers checks the barriers that are due.
func (c *Coordinator) checkBarriers(now grid.Time, fx *grid.Effects) {
	for c.barriers.jobs.Len() > 0 {
		due, j := c.barriers.jobs.First()
		if due > now {
			break
		}
		c.checkBarrier(now, j, fx)
	}
	c.wakeBarriers(now, fx)
}

// checkBarrier lowers the job's barrier and answers its callers if nothing can start any more.
func (c *Coordinator) checkBarrier(now grid.Time, j *job, fx *grid.Effects) {
	b := j.barrier
	lowered, next := b.Check(now, j.quietAt, c.cfg.Lease, fx)
	if !lowered {
		c.barriers.jobs.Update(j.barrierIndex, next)
		return
	}
	c.lowerBarrier(j)
	for _, caller := range b.Callers() {
		fx.Reply(caller, j.id, "")
	}
	c.packing = append(c.packing, j)
}

// lowerBarrier removes the job's barrier.
func (c *Coordinator) lowerBarrier(j *job) {
	c.barriers.jobs.Remove(j.barrierIndex)
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

// Ending many tasks after a takeover: all unreported tasks of a job that may run at most once, or all unended tasks of
// a cancelled job. A job of 100,000 tasks costs its submitter one small message, so the tasks end in batches, and
// only as far as the quota has room for their entries (package quota). No task of the job is placed before that is
// done.

// bulkEndBatch is the number of tasks, of all jobs together, that end in one step: about 1 MB of records.
const bulkEndBatch = 2000

// bulkEnd is the progress of a bulk end.
type bulkEnd struct {
	on     bool
	queued bool   // in bulkEnds.queue
	next   uint32 // tasks below it are done
}

// bulkEnds are the jobs whose tasks end in bulk.
type bulkEnds struct {
	queue []*job // those whose next batch is due at once
	left  int    // tasks that may still end in this step
}

func (c *Coordinator) startBulkEnd(now grid.Time, j *job, fx *grid.Effects) {
	j.replica.bulkEnd.on, j.replica.bulkEnd.next = true, 0
	c.leaveOutUnused(j)
	c.continueBulkEnd(now, j, fx)
}

// Results of tasks that end in bulk. They are shared: nobody changes a result.
var (
	cancelledResult  = &grid.Result{Cause: grid.Cancelled, Exit: 130, Error: "cancelled"}
	unreportedResult = &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep,
		Error: "lost: the node that it was submitted to is gone, nobody has it, and it was to run at most once"}
)

// continueBulkEnd ends the next batch, and queues the job for placement when all are done. Without quota it stops;
// the register's timer calls it again.
func (c *Coordinator) continueBulkEnd(now grid.Time, j *job, fx *grid.Effects) {
	s := &j.replica.bulkEnd
	if !s.on || !j.leads() || !j.cancelled && !c.mayAct(now, j) {
		return
	}
	r := j.cancelResult()
	for ; s.next < j.spec.Count; s.next++ {
		t := j.at(s.next)
		if t.state == grid.Ended || !j.cancelled &&
			(t.live != nil || j.holds(s.next) || j.mayGoOn(s.next)) {
			continue
		}
		if c.bulkEnds.left == 0 {
			c.queueBulkEnd(now, j, fx)
			return
		}
		if c.quota.AdmitMore(j.id, entryBytes) != "" {
			return
		}
		c.bulkEnds.left--
		if j.cancelled {
			c.end(now, j, s.next, r, fx)
		} else {
			c.endAsLost(now, j, s.next, fx)
		}
	}
	if s.on = false; !j.cancelled {
		c.enqueueJob(j)
	}
}

// queueBulkEnd has a job's next batch end in a step to come.
func (c *Coordinator) queueBulkEnd(now grid.Time, j *job, fx *grid.Effects) {
	if j.replica.bulkEnd.queued {
		return
	}
	j.replica.bulkEnd.queued = true
	if c.bulkEnds.queue = append(c.bulkEnds.queue, j); len(c.bulkEnds.queue) == 1 {
		fx.Wake(now, grid.TimerRegister, bulkEndKey)
	}
}

// continueBulkEnds continues the jobs whose next batch is due, in turns.
func (c *Coordinator) continueBulkEnds(now grid.Time, fx *grid.Effects) {
	jobs := c.bulkEnds.queue
	c.bulkEnds.queue = nil
	for _, j := range jobs {
		j.replica.bulkEnd.queued = false
		switch {
		case c.peekJob(j.id) != j:
		case c.bulkEnds.left == 0:
			c.queueBulkEnd(now, j, fx)
		default:
			c.continueBulkEnd(now, j, fx)
		}
	}
}
