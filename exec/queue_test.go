package exec

import (
	"testing"

	"skep/grid"
)

// The gate is not asked again about rejected work until it is woken, and the work has its place in the queue then.
func TestSleepingWorkIsSkipped(t *testing.T) {
	e, asked := new(New(grid.Resources{CPU: grid.CPU})), 0
	open := map[uint32]bool{}
	e.Gate(func(_ grid.Time, w *Work) bool {
		asked++
		return open[w.ID.Task.Index]
	})
	for k := range 5 {
		e.Accept(1, id(k), offer(grid.CPU, 0, "c"), k != 3)
	}
	starts := func(want int) {
		t.Helper()
		got := -1
		if w := e.Next(2); w != nil {
			got = int(w.ID.Task.Index)
			e.Finish(w.ID, nil)
		}
		if got != want {
			t.Fatalf("task %d starts, want %d", got, want)
		}
	}
	starts(-1)
	if asked != 4 || len(e.awakeAll()) != 0 {
		t.Fatalf("%d are awake after %d questions, want 0 and 4", len(e.awakeAll()), asked)
	}
	for k := range 5 {
		open[uint32(k)] = true
	}
	if starts(-1); asked != 4 {
		t.Errorf("asked about what sleeps: %d questions", asked)
	}
	e.Wake(e.Get(id(2)))
	e.Wake(e.Get(id(1)))
	e.Ready(id(3))
	for _, want := range []int{1, 2, 3, -1} {
		starts(want)
	}
	e.Forget(id(4)) // asleep
	e.Wake(e.Get(id(0)))
	starts(0)
	starts(-1)
}

// Work that is dormant is counted in no estimate, whether the gate has rejected it before or not. It is counted again
// once it is awake, and leaves nothing behind when it leaves the queue.
func TestDormantWorkIsNotCounted(t *testing.T) {
	e, open := New(grid.Resources{CPU: grid.CPU, Counts: grid.CountsOf("gpu", 2)}), false
	e.Gate(func(grid.Time, *Work) bool { return open })
	e.Accept(0, id(0), offer(grid.CPU, 0, "c"), true)
	held := offer(grid.CPU, 0, "c")
	held.Spec.Needs.Counts = grid.CountsOf("gpu", 2)
	e.Accept(0, id(1), held, true)
	e.Accept(0, id(2), offer(grid.CPU, 0, "c"), false)
	one := grid.Resources{CPU: grid.CPU, Counts: grid.CountsOf("gpu", 1)}
	counted := func(want float64) {
		t.Helper()
		room, _ := e.Room(9)
		if got := e.Wait(0, one, second); got != want || (room.CPU > 0) != (want == 0) {
			t.Fatalf("a task would wait for %g s, and %v have room; want %g s", got, room, want)
		}
		if n := e.Waiting(); n != int(want) { // each task takes a second
			t.Fatalf("%d attempts wait, want %g", n, want)
		}
	}
	counted(3)
	e.MakeDormant(e.Get(id(0))) // the gate has rejected nothing so far
	e.Next(0)
	for k := range 3 {
		if first := k > 0; e.MakeDormant(e.Get(id(k))) != first {
			t.Errorf("task %d was dormant before: %v, want %v", k, first, !first)
		}
	}
	counted(0)
	e.Ready(id(2))
	open = true
	if w := e.Next(0); w != nil {
		t.Fatalf("task %d starts, want none before it is awake", w.ID.Task.Index)
	}
	e.Wake(e.Get(id(2)))
	counted(1)
	for k := range 3 {
		e.Forget(id(k))
	}
	e.Accept(0, id(3), offer(grid.CPU, 0, "c"), true)
	counted(1)
	if w := e.Next(0); w == nil || len(e.awakeAll()) != 0 {
		t.Errorf("%v starts, %d are awake; want the last, and none", w, len(e.awakeAll()))
	}
	for k := 4; k < 6; k++ {
		e.Accept(0, id(k), offer(grid.CPU, 0, "c"), true)
	}
	e.MakeDormant(e.Get(id(4)))
	e.Waits(0, second, 9, func(w *Work, end float64) bool {
		if w.ID != id(5) || end != 2 {
			t.Errorf("%v waits for a slot and would end after %g s, want task 5 alone after 2 s", w.ID, end)
		}
		return true
	})
}

// Work that is inserted between the same two again and again stays in order, whatever the gap.
func TestOrderGaps(t *testing.T) {
	e := new(New(grid.Resources{CPU: grid.CPU}))
	e.Accept(0, id(0), offer(grid.CPU, 0, "c"), true)
	e.Accept(0, id(1), offer(grid.CPU, 0, "c"), true)
	for k := 2; k < 100; k++ {
		w := &Work{ID: id(k), ready: true, class: e.class("c", 1), Spec: e.Queue()[0].Spec, shared: e.Queue()[0].shared}
		e.lines.enter(w, Owner{})
		e.insert(1+k%2, w)
	}
	for k, w := range e.Queue() {
		if e.awakeAll()[k] != w || k > 0 && e.Queue()[k-1].order >= w.order {
			t.Fatalf("place %d of %d: turn %d, %d before", k, e.Queued(), w.order, e.Queue()[max(k-1, 0)].order)
		}
	}
}

// awakeAll returns the awake work of all lines.
func (e *Exec) awakeAll() (all []*Work) {
	for _, l := range e.lines.all.Open() {
		all = append(all, l.Of.awake...)
	}
	return all
}
