package exec

import (
	"cmp"
	"slices"
	"time"

	"skep/grid"
)

// Of what waits only that is looked at which may start: what the gate did not let through sleeps until somebody has a reason to
// wake it. Thousands can wait for word of their owners, and whatever ends here has a look at the queue.

// enqueue puts work at the end of the queue; what was tried before goes before all that was submitted later, as far as that
// has not been passed too often.
func (e *Exec) enqueue(w *Work, age time.Duration) {
	at := len(e.queue)
	w.since = w.Accepted.Add(-age)
	for ; w.ID.N > 1 && at > 0 && e.queue[at-1].since > w.since && e.queue[at-1].passed < MaxPassed; at-- {
		e.queue[at-1].passed++
	}
	e.insert(at, w)
}

// between is the room between two turns that follow each other.
const between = 1 << 20

// insert puts work into a place of the queue.
func (e *Exec) insert(at int, w *Work) {
	e.queue = slices.Insert(e.queue, at, w)
	last := len(e.queue) - 1
	switch {
	case last == 0:
		w.turn = 0
	case at == last:
		w.turn = e.queue[at-1].turn + between
	case at == 0:
		w.turn = e.queue[1].turn - between
	default:
		before, after := e.queue[at-1].turn, e.queue[at+1].turn
		if w.turn = before + (after-before)/2; w.turn == before { // no room is left
			for i := range e.queue {
				e.queue[i].turn = int64(i) * between
			}
		}
	}
	w.asleep = false
	e.attend(w)
}

func byTurn(w *Work, turn int64) int { return cmp.Compare(w.turn, turn) }

// attend has work looked at, if it is ready.
func (e *Exec) attend(w *Work) {
	if w.ready {
		at, _ := slices.BinarySearchFunc(e.awake, w.turn, byTurn)
		e.awake = slices.Insert(e.awake, at, w)
	}
}

// dequeue takes work out of the queue.
func (e *Exec) dequeue(w *Work) {
	e.queue = withoutTurn(e.queue, w)
	if w.ready && !w.asleep {
		e.awake = withoutTurn(e.awake, w)
	}
	w.asleep = false
}

// withoutTurn is without for a list that is in the order of turns.
func withoutTurn(list []*Work, w *Work) []*Work {
	at, ok := slices.BinarySearchFunc(list, w.turn, byTurn)
	if !ok || list[at] != w {
		panic("exec: work is in the list of its state")
	}
	if len(list) < long || at > len(list)/2 {
		return slices.Delete(list, at, at+1)
	}
	copy(list[1:at+1], list[:at]) // most leave from the front
	list[0] = nil
	return list[1:]
}

// long is how many make a list of which the shorter part is moved when one is taken out.
const long = 64

// Ready says that the attempt's inputs are here.
func (e *Exec) Ready(id grid.AttemptID) {
	if w := e.Get(id); w != nil && !w.ready {
		if w.ready = true; w.State == grid.WorkQueued {
			e.attend(w)
		}
	}
}

// Next takes the next work that may start now out of the queue and its resources out of the ledger; nil
// if there is none.
func (e *Exec) Next(now grid.Time) *Work {
	before := len(e.asleep)
	w := e.next(now)
	if len(e.asleep) > before {
		e.awake = slices.DeleteFunc(e.awake, func(w *Work) bool { return w.asleep })
	}
	if w == nil {
		return nil
	}
	need := w.Spec.Needs.Resources
	e.dequeue(w)
	w.class.queued -= int64(need.CPU)
	e.free = e.free.Minus(need)
	e.check()
	w.State, w.Started, w.lost = grid.WorkRunning, now, e.lost
	e.running = append(e.running, w)
	return w
}

// next finds the next work that may start now.
func (e *Exec) next(now grid.Time) *Work {
	var head *Work // the oldest that is ready and does not fit
	for _, w := range e.awake {
		fits := e.free.Fits(w.Spec.Needs.Resources)
		switch {
		case !fits && head != nil:
		case !e.lets(now, w):
		case fits:
			if head != nil {
				head.passed++
			}
			return w
		case w.passed >= MaxPassed || e.free.CPU <= 0:
			return nil
		default:
			head = w
		}
	}
	return nil
}

// Gate makes Next pass over work that may does not let start now, until Wake. may must not change anything.
func (e *Exec) Gate(may func(now grid.Time, w *Work) bool) { e.may = may }

// lets asks the gate, and puts to sleep what it does not let start.
func (e *Exec) lets(now grid.Time, w *Work) bool {
	if e.may == nil || e.may(now, w) {
		return true
	}
	w.asleep = true
	e.asleep = append(e.asleep, w)
	return false
}

// Asleep appends to dst the waiting work that the gate did not let start since it was asked last, and that sleeps still.
func (e *Exec) Asleep(dst []*Work) []*Work {
	for _, w := range e.asleep {
		if w.asleep {
			dst = append(dst, w)
		}
	}
	clear(e.asleep)
	e.asleep = e.asleep[:0]
	return dst
}

// Wake has waiting work looked at again: the gate may let it start now.
func (e *Exec) Wake(w *Work) {
	if w.State == grid.WorkQueued && w.asleep {
		w.asleep = false
		e.attend(w)
	}
}

// WakeAll has all waiting work looked at again.
func (e *Exec) WakeAll() {
	e.awake = e.awake[:0]
	for _, w := range e.queue {
		if w.asleep = false; w.ready {
			e.awake = append(e.awake, w)
		}
	}
}
