package exec

import (
	"testing"
	"time"

	"skep/grid"
)

// A slot that is kept is taken: nothing else gets it, and others wait for it. Work that comes for it starts when the
// gate allows, whatever is in front of it.
func TestHeldSlots(t *testing.T) {
	e := new(New(grid.Resources{CPU: 2 * grid.CPU}))
	slot := grid.Resources{CPU: grid.CPU}
	open := false
	e.Gate(func(_ grid.Time, w *Work) bool { return w.ID != id(1) || open })
	kept := 0
	for e.Hold(slot) {
		kept++
	}
	if kept != 2 || e.Free().CPU != 0 {
		t.Fatalf("%d slots kept, free %v: want two slots that can be kept", kept, e.Free())
	}
	e.Accept(0, id(0), offer(grid.CPU, 0, "c"), true)
	w := e.AcceptHeld(Owner{}, 0, id(1), offer(grid.CPU, 0, "c"), true)
	if cores := e.HeldCores(); cores != grid.CPU {
		t.Errorf("%d thousandths of a core are those of queued work: want one core", cores)
	}
	if x := e.Next(0); x != nil {
		t.Fatalf("started %v: want nothing, all slots are kept", x.ID)
	}
	if wait := e.Wait(0, slot, second); wait <= 0 {
		t.Errorf("a wait of %g s: want some", wait)
	}
	if room, none := e.Room(64); none || room.CPU != 0 {
		t.Errorf("room %v, none waits %v: want none, and that work waits", room, none)
	}
	open = true
	e.Wake(w)
	if x := e.Next(0); x != w || e.Free().CPU != 0 {
		t.Fatalf("free %v: want that the work starts in its slot", e.Free())
	}
	if cores := e.HeldCores(); cores != 0 {
		t.Errorf("%d thousandths of a core are those of queued work: want none", cores)
	}
	e.Unhold(slot)
	if x := e.Next(0); x == nil || x.ID != id(0) {
		t.Fatal("want that the other work gets the slot that is given back")
	}
	e.Finish(id(0), &grid.Result{})
	e.Finish(id(1), &grid.Result{})
	if e.Free() != e.Capacity() || e.holds != 0 || e.heldQueued != 0 {
		t.Errorf("free %v, %d holds: want all free", e.Free(), e.holds)
	}
}

// Work that leaves the queue gives its slot back.
func TestForgottenWorkGivesItsSlotBack(t *testing.T) {
	e := new(New(grid.Resources{CPU: grid.CPU}))
	e.Hold(grid.Resources{CPU: grid.CPU})
	e.AcceptHeld(Owner{}, 0, id(0), offer(grid.CPU, 0, "c"), true)
	e.Forget(id(0))
	if e.Free() != e.Capacity() || e.holds != 0 || e.heldQueued != 0 {
		t.Errorf("free %v, %d holds: want all free", e.Free(), e.holds)
	}
}

// Only work whose time limit ends in time may use slots that are kept for later.
func TestShortWork(t *testing.T) {
	e := new(New(grid.Resources{CPU: grid.CPU}))
	for i, limit := range []time.Duration{0, time.Minute, time.Second} {
		o := offer(grid.CPU, 0, "c")
		o.Spec.Timeout = limit
		e.Accept(0, id(i), o, true)
	}
	room := grid.Resources{CPU: grid.CPU}
	if w := e.Short(0, grid.Time(2*time.Second), room); w == nil || w.ID != id(2) {
		t.Errorf("%v: want the one that ends within a second", w)
	}
	if w := e.Short(0, grid.Time(time.Second), room); w != nil {
		t.Errorf("%v: want none", w.ID)
	}
	if w := e.Short(0, grid.Time(2*time.Second), grid.Resources{}); w != nil {
		t.Errorf("%v: want none without room", w.ID)
	}
	open := false
	e.Gate(func(grid.Time, *Work) bool { return open })
	if w := e.Short(0, grid.Time(2*time.Second), room); w != nil {
		t.Errorf("%v: want none that the gate rejects", w.ID)
	}
	open = true
	for i := range 3 { // each is in its list once
		if w := e.Next(0); w == nil || w.ID != id(i) {
			t.Fatalf("%v starts, want task %d", w, i)
		}
		e.Finish(id(i), &grid.Result{})
	}
}
