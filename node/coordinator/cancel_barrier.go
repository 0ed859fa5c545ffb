package coordinator

import (
	"iter"

	"skep/grid"
	"skep/node/barrier"
	"skep/node/coordinator/bulk"
	"skep/node/coordinator/retention"
	"skep/node/dependency"
)

// cancelling is what is still to be done for those who cancelled a job, or tasks of it.
type cancelling struct {
	barrier *barrier.Barrier // something that was cancelled may still start; nil = no
	quietAt grid.Time        // attempts that were given up may start until then
}

// QuietAt implements [barrier.Job].
func (j *job) QuietAt() grid.Time { return j.quietAt }

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
		if hasWorker(t) {
			add(j.attempt(i), t.Worker)
		}
		if l := t.Live; l != nil && l.backup != nil {
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
	c.barriers.Raise(j, b)
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
	c.barriers.Wake(now, barrierKey, fx)
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
		c.barriers.Wake(now, barrierKey, fx)
	}
	return confirmed
}

// checkBarriers checks the barriers that are due.
func (c *Coordinator) checkBarriers(now grid.Time, fx *grid.Effects) {
	for b, of := c.barriers.Due(now); b != nil; b, of = c.barriers.Due(now) {
		c.checkBarrier(now, of.(*job), fx)
	}
	c.barriers.Wake(now, barrierKey, fx)
}

// checkBarrier lowers the job's barrier and answers its callers if nothing can start any more.
func (c *Coordinator) checkBarrier(now grid.Time, j *job, fx *grid.Effects) {
	b := j.barrier
	if !c.barriers.Check(now, b, c.cfg.Lease, fx) {
		return
	}
	j.barrier = nil
	for _, caller := range b.Callers() {
		fx.Reply(caller, j.id, "")
	}
	c.packing = append(c.packing, j)
}

// lowerBarrier removes the job's barrier.
func (c *Coordinator) lowerBarrier(j *job) {
	c.barriers.Lower(j.barrier)
	j.barrier = nil
}

// mustStay reports whether a job that is over is kept whatever the bounds of its group are: something of it may still
// start, or somebody waits for it. What other nodes claim holds a few back.
func (c *Coordinator) mustStay(now grid.Time, j *job, s *retention.Jobs) bool {
	byOwn, byOthers := c.kept.Needs(j.id)
	return j.barrier != nil || now < j.quietAt || byOwn ||
		s.Aside() < dependency.MaxKept && (byOthers || c.awaited.Keeps(j.id))
}

// Many tasks end in bulk after a takeover (package bulk). No task of their job is placed before that is done.

// BulkEnd implements [bulk.Job].
func (j *job) BulkEnd() *bulk.Progress { return &j.replica.bulkEnd }

func (c *Coordinator) startBulkEnd(now grid.Time, j *job, fx *grid.Effects) {
	j.BulkEnd().Start()
	c.leaveOutUnused(j)
	c.continueBulkEnd(now, j, fx)
}

// unreportedResult is shared: nobody changes a result.
var unreportedResult = &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep,
	Error: "lost: the node that it was submitted to is gone, nobody has it, and it was to run at most once"}

// bulkTasks are the tasks of a job that end in bulk.
type bulkTasks struct {
	c   *Coordinator
	now grid.Time
	fx  *grid.Effects
	j   *job
	r   *grid.Result
}

// Skips implements [bulk.Tasks].
func (b *bulkTasks) Skips(i uint32) bool {
	j, t := b.j, b.j.at(i)
	return t.State() == grid.Ended || !j.cancelled && (t.Live != nil || j.holds(i) || j.mayGoOn(i) ||
		j.neverOffered(i))
}

// Admits implements [bulk.Tasks].
func (b *bulkTasks) Admits() bool { return b.c.admitEnds(b.j, 1) == "" }

// End implements [bulk.Tasks].
func (b *bulkTasks) End(i uint32) {
	if b.j.cancelled {
		b.c.end(b.now, b.j, i, b.r, b.fx)
	} else {
		b.c.endAsLost(b.now, b.j, i, b.fx)
	}
}

// continueBulkEnd ends the next batch, and queues the job for placement when all are done. Without quota it stops;
// the register's timer calls it again.
func (c *Coordinator) continueBulkEnd(now grid.Time, j *job, fx *grid.Effects) {
	if !j.BulkEnd().On() || !j.leads() || !j.cancelled && !c.mayAct(now, j) {
		return
	}
	done, later := c.bulkEnds.Run(j.BulkEnd(), j.spec.Count, &bulkTasks{c, now, fx, j, j.cancellation().Result()})
	if later {
		c.queueBulkEnd(now, j, fx)
	} else if done && !j.cancelled {
		c.enqueueJob(j)
	}
}

// queueBulkEnd has a job's next batch end in a step to come.
func (c *Coordinator) queueBulkEnd(now grid.Time, j *job, fx *grid.Effects) {
	if c.bulkEnds.Queue(j) {
		fx.Wake(now, grid.TimerRegister, bulkEndKey)
	}
}

// continueBulkEnds continues the jobs whose next batch is due.
func (c *Coordinator) continueBulkEnds(now grid.Time, fx *grid.Effects) {
	for _, j := range c.bulkEnds.Take() {
		switch {
		case c.peekJob(j.id) != j:
		case c.bulkEnds.Spent():
			c.queueBulkEnd(now, j, fx)
		default:
			c.continueBulkEnd(now, j, fx)
		}
	}
}
