package exec

import (
	"fmt"

	"skep/grid"
)

// MaxQueue bounds the attempts that wait here; what is beyond it is refused.
const MaxQueue = 20_000

// MaxPassed is how often smaller work may start before the one at the head that does not fit, and how often older work
// that comes back may go before one that waits.
const MaxPassed = 32

// Exec is the ledger and the queue of one node.
type Exec struct {
	capacity, free grid.Resources
	queue          []*Work // waiting, oldest first
	awake          []*Work // of these, in the same order, those that are ready and that the gate may let start
	asleep         []*Work // that it did not, since Asleep was asked
	running        []*Work
	finished       []*Work // in the order of their ends
	telling        telling // of these, those whose results are told again
	ends           int64   // so many were listed there
	stopping       []holding
	classes        []*class
	many           index   // while they are more than a few
	lent           *shared // the last description that came free
	spare          []*Work
	may            func(now grid.Time, w *Work) bool
	pace
	draining bool
	lowDisk  bool
	whole    bool
}

// New returns an empty ledger of a node with that capacity.
func New(capacity grid.Resources) *Exec {
	return &Exec{capacity: capacity, free: capacity, pace: pace{left: 1}}
}

// Refuses says why work of that need would not be accepted now; WhyNone if it would.
func (e *Exec) Refuses(need grid.Resources) grid.Why {
	switch {
	case need.CPU > e.capacity.CPU:
		return grid.WhyCPU
	case need.Memory > e.capacity.Memory:
		return grid.WhyMemory
	case e.draining:
		return grid.WhyDrain
	case e.lowDisk:
		return grid.WhyDisk
	case len(e.queue) >= MaxQueue:
		return grid.WhyQueue
	}
	return grid.WhyNone
}

// Accept takes an attempt into the queue. It is not ready to start while its inputs are missing.
func (e *Exec) Accept(now grid.Time, id grid.AttemptID, o *grid.Offer, ready bool) *Work {
	if e.Get(id) != nil {
		panic("exec: an attempt is accepted once")
	}
	w := e.take()
	*w = Work{ID: id, Class: o.Class, Lease: o.Lease, State: grid.WorkQueued, Accepted: now,
		ready: ready, class: e.class(o.Class)}
	e.share(w, o.Spec)
	e.enqueue(w, o.Age)
	e.note(w)
	w.class.queued += int64(w.Spec.Needs.CPU)
	return w
}

// Restore takes back an attempt that has a result already.
func (e *Exec) Restore(id grid.AttemptID, o *grid.Offer, r *grid.Result) *Work {
	w := e.take()
	*w = Work{ID: id, Class: o.Class, Lease: o.Lease, State: grid.WorkFinished, Result: r, class: e.class(o.Class)}
	e.share(w, o.Spec)
	e.finish(w)
	e.note(w)
	return w
}

// Requeue takes back an attempt that Next let start and that did not: it is the first in the queue again. It returns
// nil if that attempt does not run here.
func (e *Exec) Requeue(id grid.AttemptID) *Work {
	w := e.Get(id)
	if w == nil || w.State != grid.WorkRunning {
		return nil
	}
	e.leave(w)
	w.State, w.Started = grid.WorkQueued, 0
	w.class.queued += int64(w.Spec.Needs.CPU)
	e.insert(0, w)
	return w
}

// Finish gives the resources of a running attempt back and keeps its result until Forget. Work that ended
// before it ran, because its inputs did not come, is finished too.
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

// Forget removes an attempt in whatever state, and reports whether it was there and in which. What a running one holds stays
// taken until Stopped.
func (e *Exec) Forget(id grid.AttemptID) (grid.WorkState, bool) {
	w := e.Get(id)
	if w == nil {
		return 0, false
	}
	state := w.State
	w.cut = true
	e.leave(w)
	e.lose(w)
	e.drop(w.class)
	*w = Work{}
	e.spare = append(e.spare, w)
	return state, true
}

// Drain makes the node refuse whatever is new, or not any more.
func (e *Exec) Drain(on bool) { e.draining = on }

// LowDisk makes the node refuse whatever is new while its disk is nearly full.
func (e *Exec) LowDisk(on bool) { e.lowDisk = on }

// Draining reports whether whatever is new is refused.
func (e *Exec) Draining() bool { return e.draining }

// Capacity is what the node has, Free what of it no running task has taken.
func (e *Exec) Capacity() grid.Resources { return e.capacity }

// Free is what no running task has taken.
func (e *Exec) Free() grid.Resources { return e.free }

// Queue, Running and Finished list the accepted attempts by state; read only.
func (e *Exec) Queue() []*Work { return e.queue }

// Running lists the attempts that run; read only.
func (e *Exec) Running() []*Work { return e.running }

// Finished lists the attempts whose results are not acknowledged; read only.
func (e *Exec) Finished() []*Work { return e.finished }

// leave takes w out of the list of its state and gives back what it holds.
func (e *Exec) leave(w *Work) {
	switch w.State {
	case grid.WorkQueued:
		e.dequeue(w)
		w.class.queued -= int64(w.Spec.Needs.CPU)
	case grid.WorkRunning:
		e.running = without(e.running, w)
		need := w.Spec.Needs.Resources
		if w.cut {
			e.stopping = append(e.stopping, holding{w.ID, need})
			return
		}
		e.free = e.free.Plus(need)
		e.check()
	case grid.WorkFinished:
		e.Hush(w)
		e.finished = withoutTurn(e.finished, w)
	}
}

func (e *Exec) check() {
	if e.free.CPU < 0 || e.free.Memory < 0 || !e.capacity.Fits(e.free) {
		panic(fmt.Sprintf("exec: free is %v of %v: the ledger is out of balance", e.free, e.capacity))
	}
}

func (e *Exec) take() *Work {
	if n := len(e.spare); n > 0 {
		w := e.spare[n-1]
		e.spare = e.spare[:n-1]
		return w
	}
	return new(Work)
}

// without takes work out of a list.
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
