package coordinator

import (
	"fmt"
	"time"

	"skep/grid"
	"skep/node/budget"
	"skep/node/contract"
	"skep/node/coordinator/live"
	"skep/node/coordinator/retention"
	"skep/node/coordinator/tasks"
	"skep/node/failures"
	"skep/node/gangs"
	"skep/node/mapping"
	"skep/node/turns"
)

// job is a job submitted or replicated here. What is needed only while a task is placed or runs is in its liveTask.
type job struct {
	id         grid.JobID
	cancelled  bool
	spec       *grid.JobSpec
	class      string
	level      string // of the class
	submitted  int64
	arrived    grid.Time // submission time on this boot's clock; may be negative
	done       int64
	tasks      tasks.List[*liveTask]
	replica    *replica
	kept       *retention.Job // nil = no bound is set
	backupFrom uint32         // tasks below it have ended; the scan for backup attempts starts here

	failures.Ends // of its tasks that are not well, as far as they are committed
	cancelling
	placing
}

// placing is a job's place in the queue, and what its untried tasks wait for.
type placing struct {
	turn             uint64 // position in the job queue
	queueIndex       int    // in its line of the job queue, from 1; 0 = not queued
	line             *turns.Line[*job]
	nextFresh        uint32 // tasks below it were tried at least once
	setAside         bool   // taken out of the queue until something can be done
	awaitingMajority bool   // in jobQueue.awaitingMajority
	live             live.Job[*liveTask]
	noSearchBefore   grid.Time // no known node fits, and no search is repeated until then
	gang             *gangs.Gang
	contract         *contract.Contract // of the gang; nil without one
	account          *budget.Account    // of the job's budget, at its owner; nil without one
	expected         expectation
	urgency          mapping.Urgency // where tasks are placed at mapping events
	runningLimit
}

func (j *job) Key() grid.JobID { return j.id }

// end records a task's end, once, and releases the workers of its attempts.
func (c *Coordinator) end(now grid.Time, j *job, i uint32, r *grid.Result, fx *grid.Effects) {
	c.recordEnd(now, j, i, r, 0, fx)
}

// recordEnd records how a task's attempt ended; again is not 0 if the task goes on, so long after it.
func (c *Coordinator) recordEnd(now grid.Time, j *job, i uint32, r *grid.Result, again time.Duration,
	fx *grid.Effects) {
	t := j.tasks.At(i)
	if t.State() == grid.Ended {
		panic("coordinator: a task ends once")
	}
	r = j.replica.SignEnd(i, r)
	t.Held = hasWorker(t)
	t.Result, t.Done = r.Compact(), c.wall.At(now).UnixNano()
	if r.Wall > 0 {
		t.Began = t.Done - int64(r.Wall)
	}
	if again == 0 && j.uses(i) {
		c.stats.Ends.Add(j.spec, r, now.Sub(j.arrived))
	}
	c.trace(t, grid.Trace{At: now, What: grid.TraceEnded, Node: t.Worker})
	c.backups.due = true
	c.mappings.Changed()
	if l := t.Live; l != nil {
		if l.backup != nil {
			c.dropAttempt(now, l, l.backup.worker, l.backupID(), fx)
		}
		c.dropLive(l)
	}
	c.setState(j, i, grid.Ended, fx) // last: a slot is free once nothing of the task is polled for
	c.proposeEnd(now, j, j.newEntry(i, r, again), fx)
}

// releaseWorker tells the worker of an ended task's last attempt to forget it.
func (c *Coordinator) releaseWorker(j *job, i uint32, fx *grid.Effects) {
	t := j.tasks.At(i)
	r := &t.Result
	switch {
	case !t.Held:
	case r.Cause.Withdrawn() || r.Cause == grid.Lost:
		m := fx.About(t.Worker, grid.KindDrop)
		m.Attempts = append(m.Attempts, j.attempt(i))
	default:
		m := fx.Send(t.Worker, grid.KindResultAck)
		m.Attempts = append(m.Attempts, j.attempt(i))
	}
	t.Held = false
}

func (c *Coordinator) setState(j *job, i uint32, s grid.TaskState, fx *grid.Effects) {
	if j.tasks.Set(i, s); s == grid.Pending {
		j.replica.offers.Touch()
	}
	c.slotFreed(j, i)
	fx.Changed = append(fx.Changed, grid.TaskID{Job: j.id, Index: i})
}

// ownedElsewhere says to a local caller that another node decides about the job.
func (j *job) ownedElsewhere() string {
	return fmt.Sprintf("job %s: its owner is node %s", j.id.Short(), j.ownerKnown().Short())
}

// closeDelay is the delay between a job's last end and the notice to its members: meanwhile waiting callers are
// answered, and jobs that end together share a commit.
const closeDelay = 20 * time.Millisecond

// mayClose reports whether this node owns the job and all its tasks have ended and are committed.
func (j *job) mayClose() bool {
	r := j.replica
	cancelled, committed := r.Cancelled()
	return r.IsOwner() && r.Ready() && !r.State().Done && j.tasks.Over() == j.count() && (!cancelled || committed)
}

// closeSole closes a job that this node alone keeps, if it has ended. That is not saved: the ends of all tasks are, and
// what was used of its budget.
func (c *Coordinator) closeSole(now grid.Time, j *job, fx *grid.Effects) {
	if j.mayClose() {
		c.settleUse(now, j, fx) // a closed register takes nothing up
		j.replica.Close()
		c.archiveAndTrim(now, j, fx)
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
		c.archiveAndTrim(now, j, fx)
	}
	c.closing = c.closing[:0]
}

// OnlyHere returns the number of unfinished jobs that only this node can finish.
func (c *Coordinator) OnlyHere(now grid.Time) (jobs int) {
	for j := range c.jobs.All() {
		if j.authoritative() && j.tasks.Over() < j.count() && !c.survivesLeaving(now, j) {
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
	w := tasks.Written{Sole: j.replica.Sole(), Origin: c.isOrigin(j.id)}
	w.Entry, w.Committed = j.replica.Value(i)
	w.Output, w.Result, w.HasOutput = j.replica.files.Output(i)
	rec.Delete = j.tasks.Record(e, i, j.spec.Count, w, j.backupWorker(i))
	return &e.TaskRecord
}

// waitsWhole reports whether nothing of the job was placed yet since it waits for other jobs.
func (j *job) waitsWhole() bool {
	if len(j.spec.After.Jobs) == 0 || j.cancelled || !j.leads() || j.tasks.In(grid.Pending) == 0 {
		return false
	}
	return j.isHeld() || j.holds(0) && j.tasks.In(grid.Pending) == j.count() &&
		(j.nextFresh == 0 || j.nextFresh == j.spec.Count)
}

// hasFresh goes on to the next untried task of a job, and reports whether there is one.
func (c *Coordinator) hasFresh(now grid.Time, j *job, fx *grid.Effects) bool {
	for j.nextFresh < j.spec.Count && (j.tasks.State(j.nextFresh) != grid.Pending || j.at(j.nextFresh).Live != nil ||
		c.skipsHeld(now, j, j.nextFresh, fx)) {
		j.nextFresh++
	}
	return j.nextFresh < j.spec.Count
}

// holdAgain has the queue come to a task that is held and was cancelled before, and asks again for what it waits for.
func (c *Coordinator) holdAgain(j *job, i uint32) {
	if j.nextFresh = min(j.nextFresh, i); j.queueIndex == 0 && !j.setAside {
		c.enqueueJob(j)
		return
	}
	c.changed(grid.JobChange{Kind: grid.JobHeld, Job: j.id})
}

// countFailedNode records that a task failed on a node. It returns the reason if the task ends now, "" if it goes on.
func (c *Coordinator) countFailedNode(l *liveTask, id grid.NodeID, why grid.Refusal) string {
	l.Fail(id, why)
	return c.strikesOut(l)
}

// countLosingNode is countFailedNode of the node that lost the attempt. The task may come back to it after a back-off,
// once, unless that could be its last attempt.
func (c *Coordinator) countLosingNode(now grid.Time, l *liveTask, why grid.Refusal) string {
	if t := l.task(); why.Why != grid.WhyLost || l.prepareFailures > 0 || t.Lost >= l.job.spec.Retries {
		l.Fail(t.Worker, why)
	} else {
		l.LoseOnce(t.Worker, why, now.Add(c.peers.LossBackoff(now, t.Worker, c.cfg.Lease)))
	}
	return c.strikesOut(l)
}

// strikesOut returns why a task ends that failed on too many nodes; "" = it goes on.
func (c *Coordinator) strikesOut(l *liveTask) string {
	return clip(l.StruckOut(c.cfg.Strikes, c.peers.Name))
}
