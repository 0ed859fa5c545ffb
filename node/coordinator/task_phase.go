package coordinator

import (
	"fmt"

	"skep/grid"
	"skep/sparse"
)

// phase is the state of a live task. A task is idle at first, and whenever it is decided anew:
//
//	idle    → polling, offered, placed, waiting   poll, offer, accept, wait
//	polling → idle            release: the answers are in, or the task is over
//	offered → placed, idle    accept; release: refused, lost, over
//	placed  → idle            release: lost, ended, reclaimed
//	waiting → idle            release: its timer, or the change that it awaited
//
// An idle task becomes placed without an offer if a worker reports it, after a restart, and when its accepted backup
// attempt becomes the only one.
type phase uint8

const (
	idle    phase = iota // in the retry queue, or being decided in this step
	polling              // waits for answers to its poll
	offered              // waits for the worker to accept
	placed               // a worker has it
	waiting              // for a timer, or for a node that fits
)

var phaseNames = [...]string{"idle", "polling", "offered", "placed", "waiting"}

func (p phase) String() string { return phaseNames[p] }

// mayBecome reports whether a task's next phase may be q.
func (p phase) mayBecome(q phase) bool {
	return p == idle || q == idle || p == offered && q == placed
}

// inWindow reports whether a task in this phase counts as a decision in flight.
func (p phase) inWindow() bool { return p == polling || p == offered }

// liveTasks are the tasks that are being placed or have an attempt. The invariants:
//
//   - each is in one queue at most: an idle one in retries, a waiting one in waiting or in its job's list of tasks that
//     wait for a majority; its queueIndex is its place there, else notQueued;
//   - inFlight counts the tasks whose phase is in the window.
type liveTasks struct {
	retries    retryQueue
	waiting    waitingTasks
	inFlight   int
	by         sparse.Map[uint64, *liveTask]
	lastHandle uint64 // last handle given
}

// notQueued is the queue index of a live task that is in no queue.
const notQueued = -1

// waitingTasks are the tasks that wait for a timer, or for a change of the nodes known.
type waitingTasks struct {
	list     []*liveTask // in no order
	unproven int         // of them, those that wait for a node on probation to deliver
	unmapped int         // of them, those that await a mapping event
	turn     int         // where Waiting looks next
	first    int         // where it looked last
}

// add gives a task its handle; it is idle.
func (s *liveTasks) add(l *liveTask) {
	s.lastHandle++
	l.handle, l.queueIndex = s.lastHandle, notQueued
	s.by.Put(l)
}

// get returns a task; nil if it is not live any more.
func (s *liveTasks) get(handle uint64) *liveTask { return s.by.Get(handle) }

// drop removes an idle task.
func (s *liveTasks) drop(l *liveTask) {
	if l.phase != idle || l.queueIndex != notQueued {
		panic(fmt.Sprintf("coordinator: a task that is dropped is idle and in no queue: this one is %v, at %d", l.phase,
			l.queueIndex))
	}
	s.by.Drop(l.handle)
}

// poll records that the nodes that may run a task are asked.
func (s *liveTasks) poll(l *liveTask) { s.become(l, polling) }

// offer records that an attempt is offered to its worker.
func (s *liveTasks) offer(l *liveTask) { s.become(l, offered) }

// accept records that a worker has the attempt.
func (s *liveTasks) accept(l *liveTask) { s.become(l, placed) }

// wait records that a task waits; it is in a waiting list then.
func (s *liveTasks) wait(l *liveTask) { s.become(l, waiting) }

// release ends a task's phase: it is decided anew, or is over.
func (s *liveTasks) release(l *liveTask) { s.become(l, idle) }

// become changes a task's phase, and counts the decisions in flight.
func (s *liveTasks) become(l *liveTask, p phase) {
	if !l.phase.mayBecome(p) {
		panic(fmt.Sprintf("coordinator: a task is decided anew before it is %v: this one is %v", p, l.phase))
	}
	if l.phase == placed {
		l.status.Clear(&l.job.running)
	}
	if l.phase == polling {
		l.job.polling--
	} else if p == polling {
		l.job.polling++
	}
	if l.phase.inWindow() {
		s.inFlight--
		if l.job.batchPoll == l {
			l.job.batchPoll = nil
		}
	}
	if l.phase = p; p.inWindow() {
		s.inFlight++
	}
}

// BrokenInvariant returns an invariant that does not hold between two steps; "" = all do. It costs time in proportion
// to all tasks here: it is for simulations and tests.
func (c *Coordinator) BrokenInvariant() string {
	for l := range c.live.by.All() {
		if broken := brokenTask(c, l); broken != "" {
			return fmt.Sprintf("task %d of job %v, %v and %v: %s", l.index, l.job.id.Short(), l.phase, l.task().state, broken)
		}
	}
	for j := range c.jobs.All() {
		if broken := brokenJob(j); broken != "" {
			return fmt.Sprintf("job %v: %s", j.id.Short(), broken)
		}
	}
	_, register := c.replicas.NextChange()
	if _, deposit := c.deposits.NextChange(); register || deposit || !c.changes.Empty() {
		return "a change of a register, a deposit or a job was not followed"
	}
	if broken := brokenGangs(c); broken != "" {
		return broken
	}
	return brokenQueues(c)
}

// brokenTask checks a live task: its phase, its state and its queue agree.
func brokenTask(c *Coordinator, l *liveTask) string {
	state := l.task().state
	switch {
	case l.task().live != l || c.jobs.Get(l.job.id) != l.job:
		return "it is live and forgotten"
	case !l.job.replica.IsOwner():
		return "it is live at a node that does not own the job"
	case l.planned:
		if state != grid.Offered || l.phase != waiting && l.phase != idle {
			return "it is planned"
		}
	case l.phase == placed && state != grid.Placed && state != grid.Offered, // offered: before a restart
		l.phase == offered && state != grid.Offered,
		l.phase != placed && l.phase != offered && state != grid.Pending:
		return "phase and state differ"
	}
	switch {
	case l.phase != placed && (l.result != nil || l.backup != nil):
		return "it has a result or a backup attempt"
	case l.phase == idle && (l.queueIndex == notQueued || c.live.inFlight < c.cfg.Window):
		return "nobody decides about it"
	case l.phase == waiting && l.awaits == awaitMajority && l.job.replica.awaitingMajority[l.queueIndex] != l:
		return "it does not wait for a majority"
	case l.phase == waiting && l.awaits == awaitSlot && l.job.slotWaiters[l.queueIndex] != l:
		return "it does not wait for a slot"
	case l.phase == waiting && l.awaits != awaitMajority && l.awaits != awaitSlot &&
		c.live.waiting.list[l.queueIndex] != l:
		return "it does not wait"
	}
	return ""
}

// brokenJob checks that a job's counts are right, and that no task of it is lost.
func brokenJob(j *job) string {
	counts, known, uncommitted := [len(j.counts)]int{}, 0, 0
	active := j.leads() && !j.cancelled
	for i, t := range j.known() {
		counts[t.state]++
		known++
		if t.uncommitted {
			uncommitted++
		}
		if (t.state == grid.Offered || t.state == grid.Placed) && t.live == nil && active {
			return fmt.Sprintf("task %d is %v and not live", i, t.state)
		}
		v, _ := j.replica.Value(i)
		ended := v != nil && (!v.Open() || t.uncommitted)
		if j.replica.Job() == j.id && ended != (t.state == grid.Ended) {
			return fmt.Sprintf("task %d is %v, its entry %v", i, t.state, v)
		}
	}
	counts[grid.Pending] += j.count() - known
	if counts != j.counts || uncommitted != j.uncommitted {
		return fmt.Sprintf("its tasks count as %v, are %v; %d count as uncommitted, %d are", j.counts, counts, j.uncommitted,
			uncommitted)
	}
	if !active || j.replica.graceUntil != 0 || j.replica.bulkEnd.on {
		return ""
	}
	for i := range j.spec.Count {
		if j.state(i) == grid.Pending && j.at(i).live == nil && !j.holds(i) &&
			(i < j.nextFresh || j.queueIndex == 0 && !j.setAside) {
			return fmt.Sprintf("task %d is never placed", i)
		}
	}
	switch {
	case j.setAside && !j.awaitingMajority && j.heldBack == 0 && !j.isHeld() && !j.gangWaits() &&
		!(j.awaitsSlot && j.isFull(j.polling)):
		return "it is set aside for nothing"
	case j.mayClose() && !j.replica.closing:
		return "it is not closed"
	}
	return ""
}

func brokenQueues(c *Coordinator) string {
	inFlight, unproven, unmapped := 0, 0, 0
	for l := range c.live.by.All() {
		if l.phase.inWindow() {
			inFlight++
		}
	}
	for i, l := range c.live.waiting.list {
		if l.queueIndex != i || l.phase != waiting || l.awaits == awaitMajority || c.live.get(l.handle) != l {
			return "a task waits that does not"
		}
		if l.awaits == awaitProof {
			unproven++
		}
		if l.awaits == awaitMapping {
			name, _ := c.mapperOf(l.job)
			if unmapped++; c.mappings.Of(name) == nil || !c.mappings.Of(name).Expected() {
				return "a task awaits a mapping event that nobody begins"
			}
		}
	}
	if inFlight != c.live.inFlight || unproven != c.live.waiting.unproven || unmapped != c.live.waiting.unmapped {
		return fmt.Sprintf("%d decisions count, %d are in flight; %d tasks count as unproven, %d are; %d as unmapped, %d are",
			c.live.inFlight, inFlight, c.live.waiting.unproven, unproven, c.live.waiting.unmapped, unmapped)
	}
	return ""
}
