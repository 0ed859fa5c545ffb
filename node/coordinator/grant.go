package coordinator

import (
	"slices"

	"skep/balance"
	"skep/grid"
)

// Tasks that go to an idle node which asks for work (package pull).

const (
	maxPulls  = 3  // times that a task is taken from a worker's queue; then it stays
	maxGrants = 64 // waiting tasks that are considered for one pull
)

// Waiting reports whether tasks wait for their placement.
func (c *Coordinator) Waiting() bool { return len(c.live.waiting.list) > 0 }

// MayMove reports whether tasks of a job owned here may leave this node.
func (c *Coordinator) MayMove(id grid.JobID) bool {
	j := c.jobs.Get(id)
	return j == nil || !j.replica.IsOwner() || !c.isLocal(j)
}

// Grants reports whether a waiting task would be offered to a node.
func (c *Coordinator) Grants(now grid.Time, to grid.NodeID) bool {
	l, _ := c.granted(now, to)
	return l != nil
}

// Grant offers a waiting task to an idle node that asked for one, and reports whether it did.
func (c *Coordinator) Grant(now grid.Time, to grid.NodeID, fx *grid.Effects) bool {
	l, s := c.granted(now, to)
	if l == nil {
		return false
	}
	c.dequeue(l)
	l.search, l.awaitsNode = 0, false
	c.offerTo(now, l, s, fx)
	return true
}

// granted returns a waiting task that fits a node, and what is expected of the node; nil = there is none. Tasks of a job have
// the same needs, so one of each is considered.
func (c *Coordinator) granted(now grid.Time, to grid.NodeID) (*liveTask, balance.State) {
	var fitsNone *job
	for i, l := range c.live.waiting.list {
		if i == maxGrants {
			break
		}
		if l.job == fitsNone || l.planned || c.isLocal(l.job) || !c.mayAct(now, l.job) {
			continue
		}
		if s, fits := c.candidate(now, l, to); fits {
			return l, s
		}
		fitsNone = l.job
	}
	return nil, balance.State{}
}

// candidate returns what is expected of a node as a candidate for a task that is decided anew.
func (c *Coordinator) candidate(now grid.Time, l *liveTask, id grid.NodeID) (balance.State, bool) {
	l.polled = l.polled[:0]
	v, _ := c.candidates(now, l)
	at, found := slices.BinarySearchFunc(v.Nodes, id, func(s balance.State, id grid.NodeID) int { return s.Node.Compare(id) })
	if !found {
		return balance.State{}, false
	}
	return v.Nodes[at], true
}

// offerTo begins a new attempt on a node that asked for work.
func (c *Coordinator) offerTo(now grid.Time, l *liveTask, s balance.State, fx *grid.Effects) {
	l.request.ID = l.id()
	l.answers = l.answers[:0]
	c.offer(now, l, balance.Choice{Act: balance.Place, Node: s.Node, ECT: s.ECT}, fx)
}

// pulledAway places a task again that its worker has handed back for an idle node: that one gets it, if it is still a
// candidate. The attempt never ran: this is no loss, and no refusal that counts against the worker.
func (c *Coordinator) pulledAway(now grid.Time, l *liveTask, worker, puller grid.NodeID, fx *grid.Effects) {
	if c.forgoUnclaimed(now, l, fx) {
		return
	}
	c.live.become(l, idle)
	l.forgetResult()
	l.pulls++
	c.attemptReturned(now, &l.promise, worker, false)
	c.trace(l.task(), grid.Trace{At: now, What: grid.TraceRefused, Node: worker, Refusal: grid.Refusal{Why: grid.WhyPulled, Detail: c.peers.Name(puller)}})
	if l.backup != nil {
		c.promoteBackup(now, l, fx)
		return
	}
	c.setState(l.job, l.index, grid.Pending, fx)
	c.saveEntry(l.job, l.index, fx)
	if s, fits := c.candidate(now, l, puller); fits {
		c.offerTo(now, l, s, fx)
		return
	}
	c.retry(l)
}
