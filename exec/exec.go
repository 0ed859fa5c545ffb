package exec

import (
	"fmt"

	"skep/grid"
)

// MaxQueue bounds the queued attempts; further ones are refused.
const MaxQueue = 20_000

// MaxPassed is how often smaller work may start before the first that does not fit, and how often returning older work
// may be queued before a queued one.
const MaxPassed = 32

// Exec is the ledger and the queue of one node.
type Exec struct {
	coreShare                 // this, queue and resends come first: every step of a node reads them
	queue          gapList    // queued, oldest first
	resends        resendHeap // finished work whose results are to be sent again
	capacity, free grid.Resources
	kinds          []kind       // counted resources of the capacity
	lines          lines        // queued, those that are ready and that the gate has not rejected
	suspended      *suspensions // nil = nothing ever is
	running        []*Work
	finished       []*Work // in the order of their ends
	finishCount    int64   // number of attempts listed in finished so far
	stopping       []stoppingWork
	classes        []*class
	index          index // used while there are more than smallIndex
	spares
	gate func(now grid.Time, w *Work) bool
	closed
	rejected bool // the gate has rejected work in this call of Next
	whole    bool
	held
}

// closed says why the node accepts nothing.
type closed struct{ draining, lowDisk, away bool }

// spares are released memory that is used again.
type spares struct {
	freeSpec *jobSpec // the last released one
	freeWork []*Work
}

// New returns the empty ledger of a node with that capacity.
func New(capacity grid.Resources) Exec {
	e := Exec{capacity: capacity, free: capacity, kinds: kindsOf(capacity.Counts), coreShare: coreShare{share: 1}}
	e.resends.Track((*Work).setResendPlace)
	return e
}

// Refuses returns why work with that need would not be accepted now; WhyNone if it would.
func (e *Exec) Refuses(need grid.Resources) grid.Why {
	switch {
	case need.CPU > e.capacity.CPU:
		return grid.WhyCPU
	case need.Memory > e.capacity.Memory:
		return grid.WhyMemory
	case !e.capacity.Counts.Fits(need.Counts):
		return grid.WhyResource
	case e.draining:
		return grid.WhyDrain
	case e.lowDisk:
		return grid.WhyDisk
	case e.away:
		return grid.WhyAway
	case e.queue.Len() >= MaxQueue:
		return grid.WhyQueue
	}
	return grid.WhyNone
}

// AcceptFrom queues an attempt that an owner hands in. It is not ready to start while its inputs are missing.
func (e *Exec) AcceptFrom(by Owner, now grid.Time, id grid.AttemptID, o *grid.Offer, ready bool) *Work {
	return e.accept(by, now, id, o, ready, false)
}

func (e *Exec) accept(by Owner, now grid.Time, id grid.AttemptID, o *grid.Offer, ready, held bool) *Work {
	if e.Get(id) != nil {
		panic("exec: an attempt is accepted once")
	}
	w := e.newWork()
	*w = Work{ID: id, Class: o.Class, Lease: o.Lease, State: grid.WorkQueued, Accepted: now, Since: now,
		Terms: termsOf(o), ready: ready}
	e.shareSpec(w, o.Spec, o.Option)
	w.class, w.Held = e.counterOf(w), held
	e.lines.enter(w, by)
	e.enqueue(w, o.Age)
	e.addToIndex(w)
	return w
}

// Restore restores an attempt that has a result.
func (e *Exec) Restore(id grid.AttemptID, o *grid.Offer, r *grid.Result) *Work {
	w := e.newWork()
	*w = Work{ID: id, Class: o.Class, Lease: o.Lease, State: grid.WorkFinished, Result: r}
	e.shareSpec(w, o.Spec, o.Option)
	w.class = e.counterOf(w)
	e.finish(w)
	e.addToIndex(w)
	return w
}

// Requeue puts an attempt that Next started, but the driver did not, back to the front of the queue. It returns nil if
// that attempt does not run.
func (e *Exec) Requeue(id grid.AttemptID) *Work {
	w := e.Get(id)
	if w == nil || w.State != grid.WorkRunning {
		return nil
	}
	l := w.line
	e.lines.all.Again(l)
	e.leave(w)
	w.State, w.Started, w.line, w.Again = grid.WorkQueued, 0, l, false
	e.holdAgain(w)
	e.insert(0, w)
	return w
}

// Finish releases the resources of a running attempt and keeps its result until Forget. An attempt that ends before it
// runs, because its inputs are missing or it is given back, is finished too.
func (e *Exec) Finish(id grid.AttemptID, r *grid.Result) *Work {
	w := e.Get(id)
	if w == nil || w.State == grid.WorkFinished {
		return nil
	}
	e.leave(w)
	w.State, w.Result = grid.WorkFinished, r
	e.finish(w)
	return w
}

// Forget removes an attempt in any state, and reports whether it existed and its state. Resources of a running one
// stay taken until Stopped.
func (e *Exec) Forget(id grid.AttemptID) (grid.WorkState, bool) {
	w := e.Get(id)
	if w == nil {
		return 0, false
	}
	state := w.State
	w.stopping = true
	e.leave(w)
	e.removeFromIndex(w)
	e.dropClass(w.class)
	*w = Work{}
	e.freeWork = append(e.freeWork, w)
	return state, true
}

// Drain makes the node refuse new work, or accept it again.
func (e *Exec) Drain(on bool) { e.draining = on }

// LowDisk makes the node refuse new work while its disk is nearly full.
func (e *Exec) LowDisk(on bool) { e.lowDisk = on }

// Away makes the node refuse new work while what runs its tasks elsewhere takes none.
func (e *Exec) Away(on bool) { e.away = on }

// Draining reports whether the node drains.
func (e *Exec) Draining() bool { return e.draining }

// Capacity returns the resources of the node.
func (e *Exec) Capacity() grid.Resources { return e.capacity }

// Free returns the resources that no running task has taken; no cores while suspended work is overdue, or where work
// that shares the cores needs more of them.
func (e *Exec) Free() grid.Resources {
	free := e.free
	free.CPU = max(free.CPU, 0)
	if e.overdue() {
		free.CPU = 0
	}
	return free
}

// Queue lists the queued attempts; read only.
func (e *Exec) Queue() []*Work { return e.queue.all() }

// Queued is the number of queued attempts.
func (e *Exec) Queued() int { return e.queue.Len() }

// FirstQueued returns the oldest queued attempt; nil = none is.
func (e *Exec) FirstQueued() *Work {
	if e.queue.Len() == 0 {
		return nil
	}
	return e.queue.list[0]
}

// Running lists the running attempts; read only.
func (e *Exec) Running() []*Work { return e.running }

// Finished lists the attempts whose results are not acknowledged; read only.
func (e *Exec) Finished() []*Work { return e.finished }

// leave removes w from the list of its state and releases its resources.
func (e *Exec) leave(w *Work) {
	switch w.State {
	case grid.WorkQueued:
		e.dequeue(w)
		e.lines.release(w)
		e.releaseHeld(w)
	case grid.WorkRunning:
		e.running = without(e.running, w)
		e.lines.ended(w, e.suspended.of(w).time(e.lines.now))
		need := e.dropSuspension(w)
		if w.stopping {
			e.stopping = append(e.stopping, stoppingWork{w.ID, need, e.bid(w)})
			return
		}
		e.sharing.end(e.lines.now, e.bid(w), need.CPU)
		e.free = e.free.Plus(need)
		e.check()
	case grid.WorkFinished:
		e.CancelResend(w)
		e.finished = withoutOrdered(e.finished, w)
	}
}

func (e *Exec) check() {
	if e.free.CPU < 0 && e.sharing == nil || e.free.Memory < 0 || e.free.Counts.Negative() || !e.capacity.Fits(e.free) {
		panic(fmt.Sprintf("exec: free is %v of %v: the ledger is out of balance", e.free, e.capacity))
	}
}

func (e *Exec) newWork() *Work {
	if n := len(e.freeWork); n > 0 {
		w := e.freeWork[n-1]
		e.freeWork = e.freeWork[:n-1]
		return w
	}
	return new(Work)
}

// without removes work from a list.
func without(list []*Work, w *Work) []*Work {
	for i := range list {
		if list[i] == w {
			copy(list[i:], list[i+1:])
			list[len(list)-1] = nil
			return list[:len(list)-1]
		}
	}
	panic("exec: work is in the list of its state")
}
