package coordinator

import (
	"fmt"

	"skep/grid"
	"skep/heap"
	"skep/sparse"
)

// phase is the state of a live task. A task is idle at first, and whenever it is decided anew:
//
//	idle    → polling, offered, placed, waiting
//	polling → idle                the answers are in, or the task is over
//	offered → placed, idle        accepted; or refused, lost, over
//	placed  → idle                lost, ended, reclaimed
//	waiting → idle                its timer, or a change that it waited for
//
// An idle task becomes placed without an offer if a worker claims it, after a restart, and when its accepted backup
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
	by         sparse.Map[uint64, *liveTask]
	lastHandle uint64 // last handle given
	retries    retryQueue
	waiting    waitingTasks
	inFlight   int
}

// notQueued is the queue index of a live task that is in no queue.
const notQueued = -1

// retryQueue is the tasks to place again, oldest submission first. Each task knows its index, so one of a hundred
// thousand is removed without a search.
type retryQueue = heap.Heap[grid.Time, *liveTask, byHandle]

// byHandle orders the tasks of jobs that arrived at the same time.
type byHandle struct{}

// Before implements [heap.Order].
func (byHandle) Before(a, b *liveTask) bool { return a.handle < b.handle }

func (l *liveTask) setQueueIndex(i int) { l.queueIndex = i }

// waitingTasks are the tasks that wait for a timer, or for a change of the nodes known.
type waitingTasks struct {
	list     []*liveTask // in no order
	unproven int         // of them, those that wait for a node on probation to deliver
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
		panic(fmt.Sprintf("node: a task that is dropped is idle and in no queue: this one is %v, at %d", l.phase, l.queueIndex))
	}
	s.by.Drop(l.handle)
}

// become changes a task's phase.
func (s *liveTasks) become(l *liveTask, p phase) {
	if !l.phase.mayBecome(p) {
		panic(fmt.Sprintf("node: a task is decided anew before it is %v: this one is %v", p, l.phase))
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
