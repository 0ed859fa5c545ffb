package coordinator

import (
	"slices"

	"skep/discovery"
	"skep/grid"
	"skep/node/coordinator/live"
	"skep/node/coordinator/rounds"
	"skep/node/coordinator/survey"
	"skep/node/migration"
	"skep/node/turns"
)

// The queue of jobs with untried tasks, in the order of the node (package turns). A job that can do nothing now, as a
// node on probation must deliver first or its register's members have yet to answer, is set aside: thousands of such
// jobs cost nothing until that changes.

// jobQueue is the jobs with untried tasks, and those that wait for a majority. Jobs keep their index in turns, from 1.
type jobQueue struct {
	turns            turns.Queue[*job]
	lastTurn         uint64 // last turn given
	awaitingMajority []*job // something of them waits for a majority of their registers
	toCancel         []*job // too many of their tasks have failed, or a limit of theirs is reached
	accounts         []*job // whose accounts of budgets have to follow a change
	gangs            rounds.Gangs[*job]
	deadlines        deadlineWatch
	move             migration.Turn
}

// enqueueJob puts a job at the end of the queue.
func (c *Coordinator) enqueueJob(j *job) {
	c.dequeueJob(j)
	c.queue.lastTurn++
	j.turn = c.queue.lastTurn
	c.pushJob(j)
	if len(j.spec.After.Jobs) > 0 {
		c.changed(grid.JobChange{Kind: grid.JobHeld, Job: j.id})
	}
}

// dequeueJob takes a job out of the queue, also one set aside.
func (c *Coordinator) dequeueJob(j *job) {
	if j.setAside = false; j.queueIndex > 0 {
		c.queue.turns.Remove(j.line, j.queueIndex-1)
	}
}

// requeueJob returns a job that was set aside to its old position.
func (c *Coordinator) requeueJob(j *job) {
	if j.setAside {
		j.setAside = false
		c.pushJob(j)
	}
}

// awaitMajority records that something of the job waits for a majority of its register.
func (c *Coordinator) awaitMajority(j *job) {
	if !j.awaitingMajority {
		j.awaitingMajority = true
		c.queue.awaitingMajority = append(c.queue.awaitingMajority, j)
	}
}

// dropUnowned removes jobs that are over or that this node no longer owns: nothing of them waits for a majority.
func (c *Coordinator) dropUnowned() {
	c.queue.awaitingMajority = slices.DeleteFunc(c.queue.awaitingMajority, func(j *job) bool {
		j.awaitingMajority = j.leads()
		return !j.awaitingMajority
	})
}

// resumeJob resumes what waited for a majority of the job's register.
func (c *Coordinator) resumeJob(now grid.Time, j *job, fx *grid.Effects) {
	c.placeUnreported(now, j, fx)
	j.replica.leasesDenied = false
	c.changed(grid.JobChange{Kind: grid.JobLeased, Job: j.id})
	c.resumeWaiting(j)
}

// resumeWaiting puts back into the queue what of a job waits for a majority, and the job if it was set aside.
func (c *Coordinator) resumeWaiting(j *job) {
	for l := j.live.AwaitingMajority(); len(l) > 0; l = j.live.AwaitingMajority() {
		c.resumeTask(l[len(l)-1])
	}
	c.requeueJob(j)
}

// ResumeJobs resumes all jobs of which a majority answers now.
func (c *Coordinator) ResumeJobs(now grid.Time, fx *grid.Effects) {
	c.queue.awaitingMajority = slices.DeleteFunc(c.queue.awaitingMajority, func(j *job) bool {
		if c.mayAct(now, j) {
			c.resumeJob(now, j, fx)
			j.awaitingMajority = false
		} else if r := j.replica; len(j.live.AwaitingMajority()) == 0 && !j.setAside && !r.leasesDenied && r.graceUntil == 0 {
			j.awaitingMajority = false // nothing of it waits any more
		}
		return !j.awaitingMajority
	})
}

// retry puts a task back into the queue, ahead of younger ones.
func (c *Coordinator) retry(l *liveTask) {
	c.live.Retry(l, l.request.Arrived)
}

// maxRetriesPerProof bounds the waiting tasks that retry when a result was delivered here or elsewhere.
const maxRetriesPerProof = 4

// ResumeAwaitingProof resumes some of the tasks that wait for a node on probation to deliver.
func (c *Coordinator) ResumeAwaitingProof() {
	for i, left := 0, min(maxRetriesPerProof, c.live.Unproven()); i < len(c.live.Waiting()) && left > 0; {
		if l := c.live.Waiting()[i]; l.Awaits() == live.ForProof {
			l.lookAgain = true
			c.resumeTask(l)
			left--
			continue
		}
		i++
	}
}

// parkTask makes a task wait until its timer, or what it awaits, resumes it.
func (c *Coordinator) parkTask(l *liveTask, a live.Awaited) {
	switch c.live.Park(l, a); a {
	case live.ForMajority:
		c.awaitMajority(l.job)
	case live.ForSlot:
	default:
		c.slotFreed(l.job, l.index) // of one that was polled for
	}
}

// dequeue removes a task from the queue that it is in, if any; one that waits is idle then.
func (c *Coordinator) dequeue(l *liveTask) {
	if c.live.Dequeue(l) {
		c.requeueJob(l.job)
	}
}

// PlaceNext begins the next placement decision, if there is one, and reports whether it did: of a task, else of all
// that await a mapping event.
func (c *Coordinator) PlaceNext(now grid.Time, fx *grid.Effects) bool {
	c.stopFailing(now, fx)
	return c.placeTask(now, fx) || c.mapWaiting(now, fx) || len(c.queue.accounts) > 0
}

// placeTask begins the placement of the next task, if the window has room: first of those to place again, then of new
// ones in their turn.
func (c *Coordinator) placeTask(now grid.Time, fx *grid.Effects) bool {
	for c.live.Retrying()+c.queue.turns.Len() > 0 && c.live.InFlight() < c.cfg.Window {
		if c.live.Retrying() > 0 {
			l := c.live.Next()
			if l.job.cancelled { // a bulk end has yet to come to it
				c.dropLive(l)
				continue
			}
			if !l.lookAgain && l.job.live.HeldBack() > 0 && !c.isMapped(l.job) { // another task of its job tries for all
				c.parkTask(l, live.ForProof)
				continue
			}
			l.lookAgain = false
			if !c.awaitsSlotNow(now, l, l.job.live.Polling(), fx) {
				c.place(now, l, fx)
			}
			return true
		}
		j := c.queue.turns.First(now)
		if noMajority := !c.mayAct(now, j) && !c.mayPlan(j); noMajority || j.live.HeldBack() > 0 || j.isHeld() {
			c.queue.turns.Pop()
			if j.setAside = true; noMajority {
				c.awaitMajority(j)
			}
			continue
		}
		if j.isFull(j.live.Polling()) {
			j.setAside, j.awaitsSlot = true, true
			c.queue.turns.Pop()
			continue
		}
		if j.spec.IsGang() {
			c.placeGang(now, j, fx)
			return true
		}
		if c.awaitsBatch(j) {
			return false
		}
		if !c.hasFresh(now, j, fx) {
			c.queue.turns.Pop()
			c.allPlaced(j)
			continue
		}
		if !c.mayOffer(now, j, j.nextFresh, fx) {
			j.setAside = true
			c.queue.turns.Pop()
			continue
		}
		if !c.setsAsideForBudget(now, j) {
			c.countTurns(now, j, 1)
			c.place(now, c.newLiveTask(j, j.nextFresh), fx)
			return true
		}
	}
	return false
}

// SearchDone resumes the tasks that waited for a search.
func (c *Coordinator) SearchDone(now grid.Time, f discovery.Found, fx *grid.Effects) {
	if f.Ad != nil {
		c.peers.Dial(now, f.Ad.Node, fx)
		c.readmit(now, f.Ad, fx)
	}
	c.gangSearchDone(now, &f, fx)
	for _, l := range slices.Clone(c.live.Waiting()) {
		if l.search != f.ID || l.Phase() != live.Waiting {
			continue
		}
		l.search = 0
		if f.Ad != nil {
			c.trace(l.task(), grid.Trace{At: now, What: grid.TraceSearch, Node: f.Ad.Node,
				Refusal: grid.Refusal{Detail: survey.Method(&f, c.discovery.Forward())}})
		}
		if f.Ad == nil || l.FoundInVain(l.job.spec, f.Ad) { // another search would find the same node
			l.job.noSearchBefore = now.Add(searchRetryAfter)
		} else if why := c.notReady(f.Ad.Node, l.job.spec); why != "" {
			if l.tries++; l.tries > maxDials {
				l.job.noSearchBefore = now.Add(searchRetryAfter)
			}
			c.dequeue(l)
			c.waitFor(now, l, dialPause, grid.Refusal{Why: grid.WhyGone, Detail: why}, fx)
			continue
		}
		l.lookAgain = true // other tasks of its job may wait for this one
		c.resumeTask(l)
	}
}

// readmit puts a connected node that a search found back into the view if newer peers have displaced it: only nodes in
// the view can be given tasks, and the same search would find the same node again.
func (c *Coordinator) readmit(now grid.Time, ad *grid.Ad, fx *grid.Effects) {
	if c.peers.Connected(ad.Node) && c.gossip.Peer(ad.Node) == nil {
		c.gossip.Up(now, ad.Node, 0, fx)
		c.gossip.Hear(now, c.cfg.Self, []grid.AdEntry{{Ad: ad}}, fx, c.AdNews(now))
	}
}

// notReady returns why tasks cannot yet be placed on a node that a search found; "" = they can.
func (c *Coordinator) notReady(id grid.NodeID, spec *grid.JobSpec) string {
	return survey.NotReady(id, spec, c.gossip.Peer(id), c.peers)
}
