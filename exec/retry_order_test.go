package exec

import (
	"testing"
	"time"

	"skep/grid"
)

// A task that returns after its node died is queued before all tasks that were submitted later, and after the older
// ones of its kind. No task is passed without bound.
func TestRetryGoesBeforeLaterTasks(t *testing.T) {
	e := new(New(grid.Resources{CPU: grid.CPU}))
	at := grid.Time(0).Add(time.Hour)
	come := func(n int, attempt uint32, age time.Duration) {
		o := offer(grid.CPU, 0, "c")
		o.Age = age
		o.ID = id(n)
		o.ID.N = attempt
		e.Accept(at, o.ID, o, true)
	}
	next := func() uint32 { return e.Queue()[0].ID.Task.Index }
	come(0, 1, 0)
	e.Next(at)
	come(1, 1, 10*time.Second)
	come(2, 1, 0)
	come(3, 2, time.Minute)
	come(4, 3, 2*time.Minute)
	come(5, 2, 5*time.Second)
	for k, want := range []uint32{4, 3, 1, 5, 2} {
		if got := e.Queue()[k].ID.Task.Index; got != want {
			t.Errorf("place %d has task %d, want %d", k, got, want)
		}
	}
	for n := range 3 * MaxPassed {
		come(10+n, 2, time.Hour)
	}
	for k := range e.Queue() {
		if w := e.Queue()[k]; w.ID.Task.Index == 4 && k > MaxPassed {
			t.Errorf("the first is in place %d: want at most %d before it", k, MaxPassed)
		}
	}
	if next() < 10 {
		t.Errorf("task %d is first: want one of the oldest", next())
	}
}
