package coordinator

import "skep/grid"

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
	s := &j.replica.bulkEnd
	s.on, s.next = true, 0
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
	for ; s.next < j.spec.Count; s.next++ {
		t := j.at(s.next)
		if t.state == grid.Ended || !j.cancelled && t.live != nil {
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
			c.end(now, j, s.next, cancelledResult, fx)
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
