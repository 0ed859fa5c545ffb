package node

import (
	"skep/balance"
	"skep/grid"
)

// liveTask is the state of a task that is being placed or has an attempt.
type liveTask struct {
	handle     uint64
	job        *job
	index      uint32
	queueIndex int // in its queue, which the phase determines; else notQueued
	request    grid.Task
	phase      phase
	round      uint8 // of polling: answers to an earlier round are stale
	tries      int   // failed placements since the last successful one

	polled           []grid.NodeID   // nodes polled in this decision
	answers          []balance.State // in this decision
	unanswered       []grid.NodeID   // nodes polled whose answers are missing
	sent             grid.Time       // sending time of the poll or the offer
	deadline         grid.Time       // of the poll, the lease, or the wait
	leaseWake        grid.Time       // pending lease timer; 0 = none
	excluded         []exclusion     // nodes that get no offer for now
	failedOn         []failedOn      // nodes on which it failed: others are preferred
	blacklistTraced  bool            // its trace names the blacklisted nodes
	tryBlacklisted   bool            // all candidates are blacklisted: one is tried
	search           uint64          // pending search; 0 = none
	awaitsNode       bool            // waits for a node that fits
	awaitsProof      bool            // waits for a node on probation to deliver
	awaitsMajority   bool            // waits for a majority of its job's register
	planned          bool            // its attempt is made, and is offered when a majority of the register has answered
	ect              float64         // expected completion time of that attempt, seconds
	lookAgain        bool            // look again even if others of its job wait
	result           *grid.Result    // its files are being fetched, or replicated to members
	fetchTries       int             // attempts to fetch the files
	prepareFailures  int             // attempts whose preparation failed
	cannotExecute    *grid.Result    // last result "cannot execute", used if no node can
	backup           *backupAttempt  // nil = the task has one attempt
	demotedTo        string          // class that it was demoted to; "" = the job's
	reclaims         uint8           // times that it was reclaimed as a straggler
	demotions        []demotion      // its earlier classes
	noBackup         bool            // no further backup: one attempt of two failed, or too many were lost
	lostBesideBackup int32           // attempts lost while the other one lived
	promise          grid.Promise
}

// exclusion keeps a task from being offered to a node for some time.
type exclusion struct {
	node       grid.NodeID
	why        grid.Refusal
	until      grid.Time
	preference bool // other nodes are only preferred
}

// newLiveTask creates a task's live part.
func (c *coordinator) newLiveTask(j *job, i uint32) *liveTask {
	l := &liveTask{job: j, index: i}
	l.request = grid.Task{Spec: j.spec, Class: j.class, Arrived: j.arrived}
	c.live.add(l)
	j.task(i).live = l
	return l
}

// dropLive removes a task's live part.
func (c *coordinator) dropLive(l *liveTask) {
	c.dequeue(l)
	c.live.become(l, idle)
	c.attemptReturned(0, &l.promise, l.task().worker, false)
	if l.backup != nil {
		c.attemptReturned(0, &l.backup.promise, l.backup.worker, false)
		l.backup = nil
	}
	if l.job.unproven > 0 {
		c.resumeAwaitingProof()
	}
	l.stopReplicating()
	c.live.drop(l)
	l.job.task(l.index).live = nil
}

func (l *liveTask) Key() uint64 { return l.handle }
func (l *liveTask) task() *task { return l.job.task(l.index) }

// class returns the task's class: its job's, unless it was demoted.
func (l *liveTask) class() string {
	if l.demotedTo != "" {
		return l.demotedTo
	}
	return l.job.class
}

// forgetResult forgets a result whose files were waited for.
func (l *liveTask) forgetResult() {
	l.result, l.fetchTries = nil, 0
	l.stopReplicating()
}

func (l *liveTask) stopReplicating() {
	l.job.replica.files.StopReplicating(l.index)
}

// isReplicating reports whether the task's result waits for a majority to have its files.
func (l *liveTask) isReplicating() bool {
	return l.job.replica.files.IsReplicating(l.id())
}

func (l *liveTask) id() grid.AttemptID { return l.job.attempt(l.index) }
