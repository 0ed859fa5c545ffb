package exec

import (
	"testing"

	"skep/grid"
)

// The gate is not asked again about rejected work until it is woken, and the work has its place in the queue then.
func TestSleepingWorkIsSkipped(t *testing.T) {
	e, asked := New(grid.Resources{CPU: grid.CPU}), 0
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
	if asked != 4 || len(e.awake) != 0 {
		t.Fatalf("%d are awake after %d questions, want 0 and 4", len(e.awake), asked)
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

// Work that is inserted between the same two again and again stays in order, whatever the gap.
func TestOrderGaps(t *testing.T) {
	e := New(grid.Resources{CPU: grid.CPU})
	e.Accept(0, id(0), offer(grid.CPU, 0, "c"), true)
	e.Accept(0, id(1), offer(grid.CPU, 0, "c"), true)
	for k := 2; k < 100; k++ {
		w := &Work{ID: id(k), ready: true, class: e.class("c"), Spec: e.queue[0].Spec}
		e.insert(1+k%2, w)
	}
	for k, w := range e.queue {
		if e.awake[k] != w || k > 0 && e.queue[k-1].order >= w.order {
			t.Fatalf("place %d of %d: turn %d, %d before", k, len(e.queue), w.order, e.queue[max(k-1, 0)].order)
		}
	}
}
