package exec

import (
	"time"

	"skep/grid"
)

// Slots that are kept for work to come, and for work that has come and may not start yet. Both are taken in the ledger,
// so that no other work gets them and the node does not count as idle.

// heldTime is the expected time in seconds until a slot that is kept is free again, for those who wait for one.
const heldTime = 10

// held are the slots that are kept.
type held struct {
	holds      int // for work to come, and for queued work that has one
	heldQueued int // queued work that has one
}

// Hold takes resources for work to come, and reports whether they were free. Each is a slot of so much.
func (e *Exec) Hold(slot grid.Resources) bool {
	if !e.free.Fits(slot) || e.overdue() {
		return false
	}
	e.free = e.free.Minus(slot)
	e.holds++
	e.check()
	return true
}

// Unhold gives a slot back that Hold took.
func (e *Exec) Unhold(slot grid.Resources) {
	e.free = e.free.Plus(slot)
	e.holds--
	e.check()
}

// AcceptHeld is AcceptFrom for work whose slot Hold took: the work has it from then on.
func (e *Exec) AcceptHeld(by Owner, now grid.Time, id grid.AttemptID, o *grid.Offer, ready bool) *Work {
	e.heldQueued++
	return e.accept(by, now, id, o, ready, true)
}

// holdAgain keeps the slot of a rank of a gang that goes back to the queue.
func (e *Exec) holdAgain(w *Work) {
	if w.Spec.IsGang() && e.Hold(w.Spec.Needs.Resources) {
		w.Held = true
		e.heldQueued++
	}
}

// nextHeld finds work that has its slot and may start now.
func (e *Exec) nextHeld(now grid.Time) *Work {
	if e.heldQueued == 0 {
		return nil
	}
	for _, l := range e.lines.inTurn(now) {
		for _, w := range l.Of.awake {
			if w.Held && e.gateAllows(now, w) {
				return w
			}
		}
	}
	return nil
}

// HeldCores is how many cores the slots have together that queued work has.
func (e *Exec) HeldCores() (sum grid.MilliCPU) {
	if e.heldQueued == 0 {
		return 0
	}
	for _, w := range e.queue.all() {
		if w.Held {
			sum += w.Spec.Needs.CPU
		}
	}
	return sum
}

// startHeld has queued work that has its slot run.
func (e *Exec) startHeld(w *Work) {
	e.holds--
	e.heldQueued--
	w.Held = false
}

// releaseHeld gives back the slot that work which leaves the queue has.
func (e *Exec) releaseHeld(w *Work) {
	if w.Held {
		e.heldQueued--
		w.Held = false
		e.Unhold(w.Spec.Needs.Resources)
	}
}

// Short returns the first queued work that may start but for its slot, needs no more than room, and ends by a time
// whatever it does, as its time limit says; nil = there is none.
func (e *Exec) Short(now, end grid.Time, room grid.Resources) *Work {
	if e.overdue() {
		return nil
	}
	for _, l := range e.lines.inTurn(now) {
		for _, w := range l.Of.awake {
			limit := w.Spec.Timeout
			if !w.Held && limit > 0 && limit < time.Duration(end-now) && room.Fits(w.Spec.Needs.Resources) &&
				(e.gate == nil || e.gate(now, w)) { // rejected work goes to sleep in Next alone
				return w
			}
		}
	}
	return nil
}
