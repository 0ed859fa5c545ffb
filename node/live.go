package node

import (
	"skep/balance"
	"skep/grid"
)

// live is the part of a task that exists while it is looking for its place or has an attempt out.
type live struct {
	handle uint64
	job    *job
	index  uint32
	at     int // in the queue that it is in, by its phase; nowhere
	task   grid.Task
	phase  phase
	round  uint8 // of polling: answers to an older one are stale
	tries  int   // placements that came to nothing since the last one that did

	asked     []grid.NodeID   // in this decision
	answers   []balance.State // in this decision
	open      []grid.NodeID   // those whose answers are still to come
	sent      grid.Time       // when the poll or the offer was sent
	deadline  grid.Time       // of the poll, the lease, or the wait
	alarm     grid.Time       // the lease's wake under way; 0 = none
	out       []out           // those that would refuse
	struck    []struck        // those that it failed on: others are preferred
	told      bool            // its story names those that were avoided
	dares     bool            // there is nobody for it but those that are avoided
	search    uint64          // the search that it waits for; 0 = none
	absent    bool            // it waits for a node that fits to come
	unproven  bool            // it waits for a node to deliver
	lone      bool            // it waits for a majority of its job's register
	planned   bool            // its attempt is made, and is offered when a majority of the register has answered
	ect       float64         // of that attempt
	looks     bool            // it is to look again though others of its job wait for that
	result    *grid.Result    // whose blobs are on their way here, or from here to members of the register
	copies    *copies         // of them; nil = they are not here yet
	fetches   int             // tries to get them
	failed    int             // attempts that could not be prepared
	refusal   *grid.Result    // the last "cannot execute", in case nobody can
	twin      *twin           // nil = there is one copy
	grown     string          // the class that it was demoted to; "" = that of its job
	rescued   uint8           // times that it was taken back from a node that did not end it
	demotions []demotion      // that led there
	single    bool            // a copy ended without success, or too many were lost: the other one is the last word
	fallen    int32           // copies that were lost while the other one lived
	word
}

// word is what was promised of an attempt.
type word struct {
	chosen  grid.Time // when it was made
	promise float64   // when it should have ended, seconds from then, as its node said
	late    grid.Time // when it counts as late; 0 = nothing was promised
	begun   grid.Time // since when it is out, as far as this run of the node knows
	since   uint64    // results that had come then
}

// out is a node that is not asked for a while.
type out struct {
	node  grid.NodeID
	why   grid.Refusal
	until grid.Time
	soft  bool // it lost the task: others are preferred
}

// phase is where a live task is.
type phase uint8

const (
	idle    phase = iota // in one of the node's queues
	polling              // waits for answers
	offered              // waits for an acceptance
	placed               // a node has it
	waits                // for a wake, or for news of a node that fits
)

// enliven gives a task its live part.
func (n *Node) enliven(j *job, i uint32) *live {
	n.handles++
	l := &live{handle: n.handles, job: j, index: i, at: nowhere}
	l.task = grid.Task{Spec: j.spec, Class: j.class, Arrived: j.arrived}
	n.lives.put(l)
	j.task(i).live = l
	return l
}

// drop takes a task's live part away.
func (n *Node) drop(l *live) {
	n.decided(l)
	n.dequeue(l)
	n.returned(0, &l.word, l.t().worker, false)
	if l.twin != nil {
		n.returned(0, &l.twin.word, l.twin.worker, false)
		l.twin = nil
	}
	if l.job.stuck > 0 {
		n.encourage()
	}
	n.lives.drop(l.handle)
	l.job.task(l.index).live = nil
}

func (l *live) key() uint64 { return l.handle }
func (l *live) t() *task    { return l.job.task(l.index) }

// class is what the task is of: the job's, unless it has outgrown that.
func (l *live) class() string {
	if l.grown != "" {
		return l.grown
	}
	return l.job.class
}

func (l *live) id() grid.AttemptID { return l.job.attempt(l.index) }

// decided takes a task out of the window of decisions under way.
func (n *Node) decided(l *live) {
	if l.phase == polling || l.phase == offered {
		n.deciding--
	}
	if l.job.asks == l {
		l.job.asks = nil
	}
}
