package coordinator

import (
	"fmt"
	"time"

	"skep/grid"
	"skep/sparse"
)

// job is a job submitted here or replicated here. Its tasks are a dense list; the state needed only while a task is
// placed or runs is in its liveTask.
type job struct {
	id          grid.JobID
	cancelled   bool
	failed      int32
	exit        int32
	spec        *grid.JobSpec
	class       string
	level       string // of the class
	submitted   int64
	arrived     grid.Time // submission time on this boot's clock; may be negative
	done        int64
	tasks       sparse.List[task] // only tasks with recorded state; see task
	counts      [grid.Ended + 1]int
	uncommitted int            // tasks that ended without being committed yet
	barrier     *cancelBarrier // the job is cancelled, and something of it may still start; nil = no
	quietAt     grid.Time      // attempts that were given up may start until then
	replica     *replica
	backupFrom  uint32 // tasks below it have ended; the scan for backup attempts starts here

	placing
}

// placing is a job's place in the queue, and what its untried tasks wait for.
type placing struct {
	turn             uint64    // position in the job queue
	queueIndex       int       // in the job queue, from 1; 0 = not queued
	nextFresh        uint32    // tasks below it were tried at least once
	batchPoll        *liveTask // polls for the other untried tasks too, under a batch policy
	setAside         bool      // taken out of the queue until something can be done
	awaitingMajority bool      // in jobQueue.awaitingMajority
	heldBack         int32     // tasks that await proof or a mapping event: further ones are not tried
	noSearchBefore   grid.Time // no known node fits, and no search is repeated until then
	expected         expectation
}

func (j *job) Key() grid.JobID { return j.id }

// Cancel ends every task of a job that has not ended. Workers that still have attempts are told to drop them,
// again at each beat. The caller is answered once nothing of the job can start anywhere: see cancelBarrier.
func (c *Coordinator) Cancel(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	j := c.job(ev.Job)
	if j == nil {
		fx.Reply(ev.Caller, ev.Job, fmt.Sprintf("job %s: is not known here", ev.Job.Short()))
		return
	}
	rep := j.replica
	cancelled, _ := rep.Cancelled()
	switch {
	// an end that was visible does not change
	case rep.State().Done || !cancelled && j.counts[grid.Ended]-j.uncommitted == j.count():
		c.awaitBarrier(now, j, ev.Caller, fx)
	case !rep.IsOwner():
		fx.Reply(ev.Caller, ev.Job, fmt.Sprintf("job %s: its owner is node %s", j.id.Short(), j.ownerKnown().Short()))
	default:
		v, final := rep.Value(j.spec.Count)
		if v != nil && final {
			c.awaitBarrier(now, j, ev.Caller, fx)
			return
		}
		rep.cancellers = append(rep.cancellers, ev.Caller)
		if v != nil {
			return
		}
		c.raiseBarrier(now, j, fx)
		j.cancelled = true
		rep.Propose(&grid.Entry{Index: j.spec.Count, Done: c.wall.At(now).UnixNano()})
		c.saveEntry(j, j.spec.Count, fx)
		if c.isOrigin(j.id) {
			c.endAll(now, j, fx)
		} else {
			c.startBulkEnd(now, j, fx)
		}
		if rep.Sole() {
			c.answerCancellers(now, j, fx)
		}
	}
}

// endAll ends all unended tasks of a job as cancelled.
func (c *Coordinator) endAll(now grid.Time, j *job, fx *grid.Effects) {
	for i := range j.spec.Count {
		if j.state(i) != grid.Ended {
			c.end(now, j, i, cancelledResult, fx)
		}
	}
}

// end records a task's end, once, and releases the workers of its attempts.
func (c *Coordinator) end(now grid.Time, j *job, i uint32, r *grid.Result, fx *grid.Effects) {
	t := j.task(i)
	if t.state == grid.Ended {
		panic("coordinator: a task ends once")
	}
	t.heldByWorker = t.state == grid.Offered || t.state == grid.Placed
	t.result, t.done = r.Brief(), c.wall.At(now).UnixNano()
	if r.Wall > 0 {
		t.began = t.done - int64(r.Wall)
	}
	c.trace(t, grid.Trace{At: now, What: grid.TraceEnded, Node: t.worker})
	c.setState(j, i, grid.Ended, fx)
	c.backups.due = true
	c.mappings.Changed()
	if l := t.live; l != nil {
		if l.backup != nil {
			c.dropAttempt(now, l, l.backup.worker, l.backupID(), fx)
		}
		c.dropLive(l)
	}
	c.proposeEnd(j, i, r, fx)
}

// releaseWorker tells the worker of an ended task's last attempt to forget it.
func (c *Coordinator) releaseWorker(j *job, i uint32, fx *grid.Effects) {
	t := j.task(i)
	r := &t.result
	switch {
	case !t.heldByWorker:
	case r.Cause == grid.Cancelled || r.Cause == grid.Lost:
		m := fx.About(t.worker, grid.KindDrop)
		m.Attempts = append(m.Attempts, j.attempt(i))
	default:
		m := fx.Send(t.worker, grid.KindResultAck)
		m.Attempts = append(m.Attempts, j.attempt(i))
	}
	t.heldByWorker = false
}

// archiveAndTrim archives a finished job and deletes the oldest ones beyond Config.Keep tasks.
func (c *Coordinator) archiveAndTrim(j *job, fx *grid.Effects) {
	c.archiveJob(j)
	for c.archive.tasks > c.cfg.Keep && c.archive.len() > 1 {
		first := c.archive.shift(c.cfg.Self)
		old := c.unpack(&first, true)
		c.buryJob(old, fx)
	}
}

func (c *Coordinator) setState(j *job, i uint32, s grid.TaskState, fx *grid.Effects) {
	t := j.task(i)
	j.counts[t.state]--
	j.counts[s]++
	t.state = s
	fx.Changed = append(fx.Changed, grid.TaskID{Job: j.id, Index: i})
}

// closeDelay is the delay between a job's last end and the notice to its members: meanwhile waiting callers are
// answered, and jobs that end together share a commit.
const closeDelay = 20 * time.Millisecond

// mayClose reports whether this node owns the job and all its tasks have ended and are committed.
func (j *job) mayClose() bool {
	r := j.replica
	cancelled, committed := r.Cancelled()
	return r.IsOwner() && r.Ready() && !r.State().Done && j.uncommitted == 0 && j.counts[grid.Ended] == j.count() &&
		(!cancelled || committed)
}

// closeSole closes a job that this node alone keeps, if it has ended. That is not saved: the ends of all tasks are.
func (c *Coordinator) closeSole(j *job, fx *grid.Effects) {
	if j.mayClose() {
		j.replica.Close()
		c.archiveAndTrim(j, fx)
	}
}

// scheduleClose schedules the close of a job whose tasks have all ended.
func (c *Coordinator) scheduleClose(now grid.Time, j *job, fx *grid.Effects) {
	if j.replica.closing || !j.mayClose() {
		return
	}
	j.replica.closing = true
	if len(c.closing) == 0 {
		fx.Wake(now.Add(closeDelay), grid.TimerRegister, closeKey)
	}
	c.closing = append(c.closing, j)
}

// closeJobs closes the scheduled jobs. The end is on disk here before the members are told.
func (c *Coordinator) closeJobs(now grid.Time, fx *grid.Effects) {
	for k, j := range c.closing {
		c.closing[k] = nil
		j.replica.closing = false
		if c.peekJob(j.id) != j || !j.mayClose() {
			continue
		}
		j.replica.Close()
		j.replica.Save(fx)
		j.replica.MarkDirty()
		// attempts from an earlier epoch of this owner, superseded by another's
		c.changed(grid.JobChange{Kind: grid.JobOver, Job: j.id})
		c.archiveAndTrim(j, fx)
	}
	c.closing = c.closing[:0]
}

// OnlyHere returns the number of unfinished jobs that only this node can finish.
func (c *Coordinator) OnlyHere(now grid.Time) (jobs int) {
	for j := range c.jobs.All() {
		if j.authoritative() && j.counts[grid.Ended]-j.uncommitted < j.count() && !c.survivesLeaving(now, j) {
			jobs++
		}
	}
	return jobs
}

// survivesLeaving reports whether other members can finish a job without this node: a majority of its register
// answers, and a majority of its members has the inputs.
func (c *Coordinator) survivesLeaving(now grid.Time, j *job) bool {
	return len(j.replica.Members()) > 2 && c.mayAct(now, j) && j.replica.files.InputsSafe()
}

// saveEntry saves a task's state; index Count is the job's cancellation. Every task with a record has an entry in
// j.tasks, so that its record is found when the job is forgotten.
func (c *Coordinator) saveEntry(j *job, i uint32, fx *grid.Effects) *grid.TaskRecord {
	rec := fx.Save(grid.RecEntry)
	e := &rec.Entry
	e.ID.Task = grid.TaskID{Job: j.id, Index: i}
	v, final := j.replica.Value(i)
	if v == nil && i == j.spec.Count {
		rec.Delete = true
	} else if v != nil {
		e.State, e.ID.Attempt, e.Worker, e.Lost, e.Result = grid.Ended, v.Attempt, v.Worker, v.Lost, v.Result
		e.Placed, e.Began, e.Done, e.Epoch, e.Committed = v.Placed, v.Began, v.Done, v.Epoch, final
		a, _, found := j.replica.files.Output(i)
		e.Held = found && a == v.Attempt || j.replica.Sole()
	} else if i < j.spec.Count {
		t := j.task(i)
		e.State, e.ID.Attempt, e.Worker, e.Lost = t.state, t.attempt, t.worker, t.lost
		e.Placed, e.Began, e.Done, e.Backup, e.Pulls = t.placed, t.began, t.done, t.backupRecord(), t.pulls
		// the deposit must not replace the record of a newer attempt
		if a, r, found := j.replica.files.Output(i); found && !a.Less(t.attempt) {
			e.ID.Attempt, e.Result, e.Held = a, r, true
		}
	}
	return &e.TaskRecord
}
