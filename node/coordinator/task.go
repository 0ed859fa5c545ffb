package coordinator

import (
	"cmp"
	"time"

	"skep/balance"
	"skep/grid"
	"skep/node/coordinator/candidates"
	"skep/node/coordinator/live"
	"skep/node/coordinator/tasks"
	"skep/node/migration"
)

// task is what is recorded of one task of a job; its live part is there while it is placed or runs.
type task = tasks.Task[*liveTask]

// count is the number of tasks of a job.
func (j *job) count() int { return int(j.spec.Count) }

// Size is the number of stored tasks of a finished job: of another node's job, those that were written.
func (j *job) Size() int {
	if j.replica.endedTasks > 0 {
		return int(j.replica.endedTasks)
	}
	return j.count()
}

// untouched is a task of which nothing is known.
var untouched = tasks.Untouched[*liveTask]()

// at returns a task for reading only.
func (j *job) at(i uint32) *task {
	if t := j.tasks.Peek(i); t != nil {
		return t
	}
	return &untouched
}

// attempt returns the ID of a task's current attempt.
func (j *job) attempt(i uint32) grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Job: j.id, Index: i}, Attempt: j.at(i).Attempt}
}

// trace appends an entry to a task's history.
func (c *Coordinator) trace(t *task, tr grid.Trace) {
	c.scratch.packed = t.History.Add(&tr, c.scratch.packed)
}

// traceWait records why a task waits, unless it was said last.
func (c *Coordinator) traceWait(now grid.Time, t *task, why grid.Refusal) {
	if tr := t.History.Last(); tr.What != grid.TraceWait || tr.Refusal != why {
		c.trace(t, grid.Trace{At: now, What: grid.TraceWait, Refusal: why})
	}
}

// liveTask is the state of a task that is being placed or has an attempt.
type liveTask struct {
	live.Place[*liveTask]
	job      *job
	index    uint32
	request  grid.Task
	tries    int       // failed placements since the last successful one
	deadline grid.Time // of the poll, the lease, or the wait

	decision
	wait
	candidates.Task
	ending
	moves

	leaseWake   grid.Time // pending lease timer; 0 = none
	asked       bool      // its lease is in the last quarter: its worker was asked for the attempt, if it is connected
	outage      bool      // its worker is silent, and what runs there goes on: its lease is durableLease
	expectation grid.Expectation

	backup           *backupAttempt // nil = the task has one attempt
	noBackup         bool           // no further backup: one attempt of two failed, or too many were lost
	lostBesideBackup int32          // attempts lost while the other one lived
}

// decision is what is decided about a task's worker, beside the poll that it rests on.
type decision struct {
	planned bool    // its attempt is made, and is offered when a majority of the register has answered
	ect     float64 // expected completion time of that attempt, seconds
	pulled  bool    // its offer goes to a node that asked for work
}

// wait is what a waiting task awaits.
type wait struct {
	lookAgain  bool      // a new placement is tried even if others of its job wait
	search     uint64    // pending search; 0 = none
	pauseUntil grid.Time // it was lost, and is not placed again before
}

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
	move      migration.Task
}

// newLiveTask creates a task's live part.
func (c *Coordinator) newLiveTask(j *job, i uint32) *liveTask {
	l := &liveTask{job: j, index: i}
	l.request = grid.Task{Spec: j.spec, Class: j.class, Arrived: j.arrived}
	l.expectation.Speedup = j.spec.Needs.SpeedupKnown(j.at(i).Option)
	c.live.Add(l, &j.live)
	j.tasks.At(i).Live = l
	return l
}

// dropLive removes a task's live part.
func (c *Coordinator) dropLive(l *liveTask) {
	c.dequeue(l)
	c.live.Release(l)
	c.attemptReturned(0, &l.expectation, l.task().Worker, false)
	if l.backup != nil {
		c.attemptReturned(0, &l.backup.expectation, l.backup.worker, false)
		c.forgetBackup(l)
	}
	if l.job.live.HeldBack() > 0 {
		c.ResumeAwaitingProof()
	}
	l.stopReplicating()
	c.live.Drop(l)
	l.job.tasks.At(l.index).Live = nil
}

func (l *liveTask) task() *task { return l.job.tasks.At(l.index) }

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
	return j.tasks.State(i) == grid.Pending && j.at(i).Live == nil && j.openEntry(i) == nil && !j.holds(i) &&
		(!j.recordsOffers() || j.replica.offers.Covers(j.spec, j.replica, i))
}

// hasWorker reports whether a task was given to a worker.
func hasWorker(t *task) bool { return t.State() == grid.Offered || t.State() == grid.Placed }

// need is what is asked for the candidates for a task.
func (c *Coordinator) need(now grid.Time, l *liveTask) *candidates.Need {
	return &candidates.Need{Self: c.cfg.Self, Peers: c.peers, Buffer: &c.scratch.view, Spec: l.job.spec, Class: l.class(),
		Level: l.level(), Policy: c.policyName(l.job.spec), Foreign: !c.isOrigin(l.job.id), Fetch: c.isMapped(l.job),
		Limit: l.job.worthFor(now)}
}

// candidates returns the nodes that the task may be offered to, as known without a poll: see [candidates.Task].
func (c *Coordinator) candidates(now grid.Time, l *liveTask) (v balance.View, onProbation int) {
	return l.Candidates(now, c.need(now, l))
}

// policyName is the name of the policy that places a job's tasks.
func (c *Coordinator) policyName(s *grid.JobSpec) string { return cmp.Or(s.Policy, c.cfg.Policy) }

// isLocal reports whether the job's tasks run only on this node (policy "local"). Such a task waits for this node
// even after it failed here.
func (c *Coordinator) isLocal(s *grid.JobSpec) bool { return candidates.Local(c.policyName(s)) }

// FitsSelf returns why this node could never run the job's tasks; WhyNone if it could.
func (c *Coordinator) FitsSelf(spec *grid.JobSpec) grid.Refusal { return c.peers.FitsSelf(spec) }

// exclude stops offers of a task to a node: for ever if the node can never run it, else for a time that doubles with
// the task's tries, from 1 s to 30 s.
func (c *Coordinator) exclude(now grid.Time, l *liveTask, id grid.NodeID, why grid.Refusal) {
	c.excludeUntil(now, l, id, why, candidates.Until(now, l.tries, why.Why))
}

// excludeRefusing is exclude for a node that has refused an attempt.
func (c *Coordinator) excludeRefusing(now grid.Time, l *liveTask, id grid.NodeID, why grid.Refusal) {
	c.traceRefused(now, l, id, why)
	l.Refused(now, id, why, l.tries, c.need(now, l))
}

func (c *Coordinator) excludeUntil(now grid.Time, l *liveTask, id grid.NodeID, why grid.Refusal, until grid.Time) {
	c.traceRefused(now, l, id, why)
	l.Exclude(id, why, until)
}

func (c *Coordinator) traceRefused(now grid.Time, l *liveTask, id grid.NodeID, why grid.Refusal) {
	c.trace(l.task(), grid.Trace{At: now, What: grid.TraceRefused, Node: id, Refusal: why, Asked: int32(len(l.Polled))})
}

// tooDear parks a task whose job's budget does not pay for it as the option that was chosen, and reports whether it
// did. It is tried again after a while, and not when something is left over: it may be paid for as another option.
func (c *Coordinator) tooDear(now grid.Time, l *liveTask, option uint8, fx *grid.Effects) bool {
	if l.job.account == nil || option == 0 || c.affordsAs(now, l, option) {
		return false
	}
	use := c.expectedUse(l.job, l.index, l.level(), l.job.spec.Needs.SpeedupOf(option))
	c.traceWait(now, l.task(), l.job.account.Refusal(now, use))
	c.parkFor(now, l, min(minPause<<min(l.tries, 10), maxPause), live.ForTimer, fx)
	l.tries++
	return true
}

// candidate returns what is expected of a node as a candidate for a task that is decided anew; nil = it is none.
func (c *Coordinator) candidate(now grid.Time, l *liveTask, id grid.NodeID) *balance.State {
	return l.Candidate(now, id, c.need(now, l))
}
