package coordinator

import (
	"iter"
	"time"

	"skep/balance"
	"skep/grid"
	"skep/node/decisions"
	"skep/node/exclusion"
	"skep/node/history"
	"skep/node/progress"
)

// task is the state of one task of a job. An untouched task is pending and takes no memory: a replica of another node's
// job is bounded by what was written to it, not by the stated number of tasks.
type task struct {
	state        grid.TaskState
	heldByWorker bool         // it ended while a worker held its attempt
	uncommitted  bool         // it has ended, and the end is not committed
	pulls        uint8        // moves: taken from a queue for an idle node; of rank 0, of its gang to a better schedule
	attempt      grid.Attempt // current attempt: the newest but for backup attempts
	backupMade   grid.Attempt // newest backup attempt
	worker       grid.NodeID
	lost         int32
	round        uint32             // of the entry of its end, as in grid.Entry
	result       grid.CompactResult // of an ended task
	placed       int64
	began        int64
	done         int64
	history      history.History
	live         *liveTask
}

// count is the number of tasks of a job.
func (j *job) count() int { return int(j.spec.Count) }

// size is the number of stored tasks of a finished job: of another node's job, those that were written.
func (j *job) size() int {
	if j.replica.endedTasks > 0 {
		return int(j.replica.endedTasks)
	}
	return j.count()
}

// task returns a task for writing; its address is stable.
func (j *job) task(i uint32) *task {
	t := j.tasks.At(i)
	if t.state == 0 {
		t.state = grid.Pending
	}
	return t
}

// unnoted is an untouched task.
var unnoted = task{state: grid.Pending}

// at returns a task for reading only.
func (j *job) at(i uint32) *task {
	if t := j.tasks.Peek(i); t != nil && t.state != 0 {
		return t
	}
	return &unnoted
}

func (j *job) state(i uint32) grid.TaskState { return j.at(i).state }

// known iterates over the touched tasks, in order.
func (j *job) known() iter.Seq2[uint32, *task] {
	return func(yield func(uint32, *task) bool) {
		for i, t := range j.tasks.All() {
			if t.state != 0 && !yield(i, t) {
				return
			}
		}
	}
}

// attempt returns the ID of a task's current attempt.
func (j *job) attempt(i uint32) grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Job: j.id, Index: i}, Attempt: j.at(i).attempt}
}

// trace appends an entry to a task's history.
func (c *Coordinator) trace(t *task, tr grid.Trace) {
	c.scratch.packed = t.history.Add(&tr, c.scratch.packed)
}

// liveTask is the state of a task that is being placed or has an attempt.
type liveTask struct {
	handle     uint64
	job        *job
	index      uint32
	queueIndex int // in its queue, which the phase determines; else notQueued
	request    grid.Task
	phase      phase
	tries      int       // failed placements since the last successful one
	deadline   grid.Time // of the poll, the lease, or the wait

	decision
	wait
	exclusions
	ending
	moves

	leaseWake   grid.Time // pending lease timer; 0 = none
	asked       bool      // its lease is in the last quarter: its worker was asked for the attempt, if it is connected
	expectation grid.Expectation
	status      progress.Status // of its attempt

	backup           *backupAttempt // nil = the task has one attempt
	noBackup         bool           // no further backup: one attempt of two failed, or too many were lost
	lostBesideBackup int32          // attempts lost while the other one lived
}

// exclusions are the nodes that do not get a task, and what is done about the blacklist.
type exclusions struct {
	exclusion.Set
	blacklistTraced bool // its trace names the blacklisted nodes
	tryBlacklisted  bool // all candidates are blacklisted: one is tried
}

// decision is what is known while a task's worker is chosen.
type decision struct {
	round      uint8           // of polling: answers to an earlier round are stale
	polled     []grid.NodeID   // nodes polled in this decision
	answers    []balance.State // in this decision
	unanswered []grid.NodeID   // nodes polled whose answers are missing, also after the end of the poll
	sent       grid.Time       // sending time of the poll or the offer
	planned    bool            // its attempt is made, and is offered when a majority of the register has answered
	ect        float64         // expected completion time of that attempt, seconds
	pulled     bool            // its offer goes to a node that asked for work
	candidates decisions.Candidates
}

// wait is what a waiting task awaits.
type wait struct {
	awaits     awaited
	lookAgain  bool      // a new placement is tried even if others of its job wait
	search     uint64    // pending search; 0 = none
	pauseUntil grid.Time // it was lost, and is not placed again before
}

// awaited is what resumes a waiting task before its timer does.
type awaited uint8

const (
	awaitTimer    awaited = iota
	awaitNode             // a node that fits
	awaitProof            // that a node on probation delivers
	awaitMajority         // a majority of its job's register
	awaitMapping          // a mapping event of its policy
	awaitSlot             // that fewer tasks of its job have a worker
)

// ending is what is known of a task's end before it is recorded.
type ending struct {
	result          *grid.Result // its files are being fetched, or replicated to members
	fetchTries      int          // attempts to fetch the files
	prepareFailures int          // attempts whose preparation failed
	cannotExecute   *grid.Result // last result "cannot execute", used if no node can
}

// moves are the changes of a task's class or worker that are no losses.
type moves struct {
	demotedTo string // class that it was demoted to; "" = the job's
	demotions exclusion.Demotions
	reclaims  uint8         // times that it was reclaimed as a straggler
	vain      []grid.NodeID // nodes that pulled it and did not get it
}

// newLiveTask creates a task's live part.
func (c *Coordinator) newLiveTask(j *job, i uint32) *liveTask {
	l := &liveTask{job: j, index: i}
	l.request = grid.Task{Spec: j.spec, Class: j.class, Arrived: j.arrived}
	c.live.add(l)
	j.task(i).live = l
	return l
}

// dropLive removes a task's live part.
func (c *Coordinator) dropLive(l *liveTask) {
	c.dequeue(l)
	c.live.release(l)
	c.attemptReturned(0, &l.expectation, l.task().worker, false)
	if l.backup != nil {
		c.attemptReturned(0, &l.backup.expectation, l.backup.worker, false)
		c.forgetBackup(l)
	}
	if l.job.heldBack > 0 {
		c.ResumeAwaitingProof()
	}
	l.stopReplicating()
	c.live.drop(l)
	l.job.task(l.index).live = nil
}

func (l *liveTask) Key() uint64 { return l.handle }
func (l *liveTask) task() *task { return l.job.task(l.index) }

// age is the time since the task was submitted, over all its attempts.
func (l *liveTask) age(now grid.Time) time.Duration { return max(now.Sub(l.job.arrived), 0) }

// class returns the task's class: its job's, unless it was demoted.
func (l *liveTask) class() string {
	if l.demotedTo != "" {
		return l.demotedTo
	}
	return l.job.class
}

// level returns the finest level of that class.
func (l *liveTask) level() string {
	if l.demotedTo != "" {
		return l.demotedTo
	}
	return l.job.level
}

// forgetResult forgets a result whose files were waited for.
func (l *liveTask) forgetResult() {
	l.result, l.fetchTries = nil, 0
	l.stopReplicating()
}

func (l *liveTask) stopReplicating() { l.job.replica.files.StopReplicating(l.index) }

// isReplicating reports whether the task's result waits for a majority to have its files.
func (l *liveTask) isReplicating() bool {
	return l.job.replica.files.IsReplicating(l.id())
}

func (l *liveTask) id() grid.AttemptID { return l.job.attempt(l.index) }

// clip bounds a text for a record or the wire.
func clip(s string) string { return grid.Clean(s, grid.MaxText) }

// untried counts the tasks of a job that nothing was done with yet, up to a bound.
func (j *job) untried(most int) (n int) {
	for i := j.nextFresh; i < j.spec.Count && n < most; i++ {
		if j.isUntried(i) {
			n++
		}
	}
	return n
}

func (j *job) isUntried(i uint32) bool {
	return j.state(i) == grid.Pending && j.at(i).live == nil && j.openEntry(i) == nil && !j.holds(i)
}
