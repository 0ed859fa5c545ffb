package barrier

import (
	"testing"
	"time"

	"skep/grid"
)

const lease = 6 * time.Second

func id(task, n uint32) grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Index: task}, Attempt: grid.Attempt{Epoch: 1, N: n}}
}

// It is lowered when every worker has confirmed its own attempt, or when its time is over.
func TestLoweredWhenAllConfirm(t *testing.T) {
	a, b := grid.NodeID{1}, grid.NodeID{2}
	x := New(100)
	for _, at := range []grid.AttemptID{id(3, 2), id(1, 1), id(3, 1)} { // a task with a backup attempt
		x.Add(at, a)
		x.Add(at, a)
	}
	for _, c := range []struct {
		from            grid.NodeID
		id              grid.AttemptID
		confirmed, last bool
	}{{b, id(1, 1), false, false}, {a, id(1, 2), false, false}, {a, id(1, 1), true, false}, {a, id(1, 1), false, false},
		{a, id(3, 2), true, false}, {a, id(3, 1), true, true}} {
		if confirmed, last := x.Confirm(c.from, c.id); confirmed != c.confirmed || last != c.last {
			t.Errorf("%v of node %d: %v, last %v", c.id, c.from[0], confirmed, last)
		}
	}
	var fx grid.Effects
	if lowered, next := x.Check(10, 20, lease, &fx); lowered || next != 20 || len(fx.Sends) > 0 {
		t.Errorf("before the job is quiet: lowered %v, next %d, %d messages", lowered, next, len(fx.Sends))
	}
	if lowered, _ := x.Check(20, 20, lease, &fx); !lowered {
		t.Error("the job is quiet: still up")
	}
	y := New(100)
	y.Add(id(1, 1), a)
	if lowered, _ := y.Check(99, 0, lease, &fx); lowered || len(fx.Sends) != 1 {
		t.Errorf("an attempt is not confirmed: lowered %v, %d messages", lowered, len(fx.Sends))
	}
	if lowered, _ := y.Check(100, 0, lease, &fx); !lowered {
		t.Error("no start lease is valid any more: still up")
	}
}

// A later cancel takes over what the earlier one waits for.
func TestExtend(t *testing.T) {
	a := grid.NodeID{1}
	first, second := New(100), New(90)
	first.Add(id(1, 1), a)
	first.Add(id(2, 1), a) // of the first alone
	first.Add(id(4, 1), a)
	first.Await(7)
	first.Confirm(a, id(4, 1))
	second.Add(id(0, 1), a)
	second.Add(id(1, 1), a)
	second.Await(8)
	second.Extend(first)
	if c := second.Callers(); len(c) != 2 || c[0] != 7 || c[1] != 8 {
		t.Errorf("callers %v", c)
	}
	for _, task := range []uint32{0, 2} {
		if confirmed, last := second.Confirm(a, id(task, 1)); !confirmed || last {
			t.Errorf("task %d: confirmed %v, last %v: want that an attempt of the first is still waited for", task, confirmed,
				last)
		}
	}
	if _, last := second.Confirm(a, id(1, 1)); !last {
		t.Error("all attempts are confirmed, and one is waited for")
	}
	if lowered, _ := second.Check(95, 200, lease, new(grid.Effects)); lowered {
		t.Error("lowered before the first one's time is over")
	}
}
