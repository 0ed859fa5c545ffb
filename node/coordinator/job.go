package coordinator

import (
	"fmt"
	"time"

	"skep/grid"
	"skep/node/contract"
	"skep/node/gangs"
	"skep/node/mapping"
	"skep/node/turns"
	"skep/sparse"
)

// job is a job submitted or replicated here. What is needed only while a task is placed or runs is in its liveTask.
type job struct {
	id          grid.JobID
	cancelled   bool
	spec        *grid.JobSpec
	class       string
	level       string // of the class
	submitted   int64
	arrived     grid.Time // submission time on this boot's clock; may be negative
	done        int64
	tasks       sparse.List[task] // only tasks with recorded state; see task
	counts      [grid.Ended + 1]int
	uncommitted int // tasks that ended without being committed yet
	replica     *replica
	backupFrom  uint32 // tasks below it have ended; the scan for backup attempts starts here

	failedEnds
	cancelling
	placing
}

// failedEnds are what the ends of a job's tasks that are not well come to, as far as they are committed.
type failedEnds struct {
	failed    int32 // tasks whose exit code is not 0
	withdrawn int32 // of failed, those that nobody wanted any more
	missed    int32 // of withdrawn, those that had not ended by the deadline
	exit      int32 // highest exit code
}

// count counts a committed end.
func (f *failedEnds) count(r *grid.CompactResult) {
	if r.Exit == 0 {
		return
	}
	if f.failed++; r.Cause.Withdrawn() {
		f.withdrawn++
	}
	if r.Cause == grid.Missed {
		f.missed++
	}
	f.exit = max(f.exit, r.Exit)
}

// placing is a job's place in the queue, and what its untried tasks wait for.
type placing struct {
	turn             uint64 // position in the job queue
	queueIndex       int    // in its line of the job queue, from 1; 0 = not queued
	line             *turns.Line[*job]
	nextFresh        uint32    // tasks below it were tried at least once
	batchPoll        *liveTask // polls for the other untried tasks too, under a batch policy
	setAside         bool      // taken out of the queue until something can be done
	awaitingMajority bool      // in jobQueue.awaitingMajority
	heldBack         int32     // tasks that await proof or a mapping event: further ones are not tried
	noSearchBefore   grid.Time // no known node fits, and no search is repeated until then
	gang             *gangs.Gang
	contract         *contract.Contract // of the gang; nil without one
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
	t := j.task(i)
	if t.state == grid.Ended {
		panic("coordinator: a task ends once")
	}
	t.heldByWorker = t.state == grid.Offered || t.state == grid.Placed
	t.result, t.done = r.Compact(), c.wall.At(now).UnixNano()
	if r.Wall > 0 {
		t.began = t.done - int64(r.Wall)
	}
	if again == 0 && j.uses(i) {
		c.stats.Ends.Add(j.spec, r, now.Sub(j.arrived))
	}
	c.trace(t, grid.Trace{At: now, What: grid.TraceEnded, Node: t.worker})
	c.backups.due = true
	c.mappings.Changed()
	if l := t.live; l != nil {
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
	t := j.task(i)
	r := &t.result
	switch {
	case !t.heldByWorker:
	case r.Cause.Withdrawn() || r.Cause == grid.Lost:
		m := fx.About(t.worker, grid.KindDrop)
		m.Attempts = append(m.Attempts, j.attempt(i))
	default:
		m := fx.Send(t.worker, grid.KindResultAck)
		m.Attempts = append(m.Attempts, j.attempt(i))
	}
	t.heldByWorker = false
}

func (c *Coordinator) setState(j *job, i uint32, s grid.TaskState, fx *grid.Effects) {
	t := j.task(i)
	j.counts[t.state]--
	j.counts[s]++
	t.state = s
	c.slotFreed(j)
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
	} else if i == j.spec.Count && v.Open() {
		e.State, e.Open, e.Committed = grid.Pending, v, final
	} else if v != nil && !v.Open() {
		e.State, e.ID.Attempt, e.Worker, e.Lost, e.Result = grid.Ended, v.Attempt, v.Worker, v.Lost, v.Result
		e.Placed, e.Began, e.Done, e.Epoch, e.Committed = v.Placed, v.Began, v.Done, v.Epoch, final
		e.Round, e.Failures, e.RetriedAt, e.RetryEpoch = v.Round, v.Failures, v.RetriedAt, v.RetryEpoch
		a, _, found := j.replica.files.Output(i)
		// what another job has left is kept where it is, for the submitter of this one
		e.Held = found && a == v.Attempt || j.replica.Sole() || i > j.spec.Count && c.isOrigin(j.id)
		if i < j.spec.Count && v.Attempt.Less(j.at(i).backupMade) { // the task may be run again: see nextAttempt
			e.Backup = &grid.BackupRecord{Attempt: j.at(i).backupMade}
		}
	} else if i < j.spec.Count {
		t := j.task(i)
		e.State, e.ID.Attempt, e.Worker, e.Lost = t.state, t.attempt, t.worker, t.lost
		e.Placed, e.Began, e.Done, e.Backup, e.Pulls = t.placed, t.began, t.done, t.backupRecord(), t.pulls
		// the deposit must not replace the record of a newer attempt
		if a, r, found := j.replica.files.Output(i); found && !a.Less(t.attempt) {
			e.ID.Attempt, e.Result, e.Held = a, r, true
		}
		if v != nil {
			j.saveOpen(e, v, final)
		}
	}
	return &e.TaskRecord
}

// waitsWhole reports whether nothing of the job was placed yet since it waits for other jobs.
func (j *job) waitsWhole() bool {
	if len(j.spec.After.Jobs) == 0 || j.cancelled || !j.leads() || j.counts[grid.Pending] == 0 {
		return false
	}
	return j.isHeld() || j.holds(0) && j.counts[grid.Pending] == j.count() &&
		(j.nextFresh == 0 || j.nextFresh == j.spec.Count)
}
