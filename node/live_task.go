package node

import (
	"skep/balance"
	"skep/grid"
)

// liveTask is the part of a task that exists while it is looking for its place or has an attempt out.
type liveTask struct {
	handle     uint64
	job        *job
	index      uint32
	queueIndex int // in the queue that it is in, by its phase; nowhere
	request    grid.Task
	phase      phase
	round      uint8 // of polling: answers to an older one are stale
	tries      int   // placements that came to nothing since the last one that did

	asked           []grid.NodeID   // in this decision
	answers         []balance.State // in this decision
	unanswered      []grid.NodeID   // those whose answers are still to come
	sent            grid.Time       // when the poll or the offer was sent
	deadline        grid.Time       // of the poll, the lease, or the wait
	leaseWake       grid.Time       // the lease's wake under way; 0 = none
	excluded        []exclusion     // those that would refuse
	failedOn        []failedOn      // those that it failed on: others are preferred
	blacklistTraced bool            // its story names those that were avoided
	tryBlacklisted  bool            // there is nobody for it but those that are avoided
	search          uint64          // the search that it waits for; 0 = none
	awaitsNode      bool            // it waits for a node that fits to come
	awaitsProof     bool            // it waits for a node to deliver
	awaitsMajority  bool            // it waits for a majority of its job's register
	planned         bool            // its attempt is made, and is offered when a majority of the register has answered
	ect             float64         // of that attempt
	lookAgain       bool            // it is to look again though others of its job wait for that
	result          *grid.Result    // whose blobs are on their way here, or from here to members of the register
	replicas        *fileReplicas   // of them; nil = they are not here yet
	fetchTries      int             // tries to get them
	prepareFailures int             // attempts that could not be prepared
	cannotExecute   *grid.Result    // the last "cannot execute", in case nobody can
	backup          *backupAttempt  // nil = there is one copy
	demotedTo       string          // the class that it was demoted to; "" = that of its job
	reclaims        uint8           // times that it was taken back from a node that did not end it
	demotions       []demotion      // that led there
	noBackup        bool            // a copy ended without success, or too many were lost: the other one is the last word
	lostCopies      int32           // copies that were lost while the other one lived
	promise
}

// promise is what was promised of an attempt.
type promise struct {
	madeAt         grid.Time // when it was made
	expected       float64   // when it should have ended, seconds from then, as its node said
	lateAt         grid.Time // when it counts as late; 0 = nothing was promised
	sentAt         grid.Time // since when it is out, as far as this run of the node knows
	resultsAtStart uint64    // results that had come then
}

// exclusion is a node that is not asked for a while.
type exclusion struct {
	node       grid.NodeID
	why        grid.Refusal
	until      grid.Time
	preference bool // it lost the task: others are preferred
}

// phase is where a live task is.
type phase uint8

const (
	idle    phase = iota // in one of the node's queues
	polling              // waits for answers
	offered              // waits for an acceptance
	placed               // a node has it
	waiting              // for a wake, or for news of a node that fits
)

// newLiveTask gives a task its live part.
func (n *Node) newLiveTask(j *job, i uint32) *liveTask {
	n.lastHandle++
	l := &liveTask{handle: n.lastHandle, job: j, index: i, queueIndex: notQueued}
	l.request = grid.Task{Spec: j.spec, Class: j.class, Arrived: j.arrived}
	n.live.put(l)
	j.task(i).live = l
	return l
}

// dropLive takes a task's live part away.
func (n *Node) dropLive(l *liveTask) {
	n.leaveWindow(l)
	n.dequeue(l)
	n.attemptReturned(0, &l.promise, l.task().worker, false)
	if l.backup != nil {
		n.attemptReturned(0, &l.backup.promise, l.backup.worker, false)
		l.backup = nil
	}
	if l.job.unproven > 0 {
		n.resumeAwaitingProof()
	}
	n.live.drop(l.handle)
	l.job.task(l.index).live = nil
}

func (l *liveTask) key() uint64 { return l.handle }
func (l *liveTask) task() *task { return l.job.task(l.index) }

// class is what the task is of: the job's, unless it has outgrown that.
func (l *liveTask) class() string {
	if l.demotedTo != "" {
		return l.demotedTo
	}
	return l.job.class
}

func (l *liveTask) id() grid.AttemptID { return l.job.attempt(l.index) }

// leaveWindow takes a task out of the window of decisions under way.
func (n *Node) leaveWindow(l *liveTask) {
	if l.phase == polling || l.phase == offered {
		n.inFlight--
	}
	if l.job.batchPoll == l {
		l.job.batchPoll = nil
	}
}
