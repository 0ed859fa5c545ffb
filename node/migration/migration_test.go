package migration

import (
	"strings"
	"testing"
	"time"

	"skep/balance"
	"skep/grid"
)

const second = time.Second

// node is a place where a whole task would start after ready and take run seconds.
func node(id byte, ready, run float64) balance.State {
	return balance.State{Node: grid.NodeID{id}, Ready: ready, ECT: ready + run}
}

// lacking is the node that lacks inputs of 130 MB; the others have them.
const lacking = 6

// weigh weighs a task that takes 100 s at node 1.
func weigh(t *Task, is grid.Movable, said *grid.Progress, bytes grid.Bytes, nodes ...balance.State) Verdict {
	return t.Weigh(&Situation{Here: grid.NodeID{1}, Whole: 100, Is: &is, Said: said, Bytes: bytes, Nodes: nodes,
		Lacks: func(id grid.NodeID) float64 {
			if id[0] == lacking {
				return 130e6
			}
			return 0
		},
		Transfer: func(rtt time.Duration, bytes float64) float64 { return rtt.Seconds() },
		Name:     func(id grid.NodeID) string { return string('a' + rune(id[0])) }})
}

// A task moves when (wait + what is left here) − (start + what is left and repeated there) is more than the move costs.
func TestWeigh(t *testing.T) {
	half := grid.Movable{Wait: 60 * second, Ran: 50 * second, Kept: 40 * second} // here: 60 + 50 s; repeated: 10 s
	runs := grid.Movable{Ran: 50 * second, Kept: 50 * second}                    // here: 50 s
	for _, c := range []struct {
		what  string
		is    grid.Movable
		said  *grid.Progress
		bytes grid.Bytes
		nodes []balance.State
		want  byte // 0 = it stays
	}{
		{"an idle node that is as fast: 60 s there", half, nil, 0, []balance.State{node(2, 0, 100)}, 2},
		{"one where it would wait for 40 s: 100 s", half, nil, 0, []balance.State{node(2, 40, 100)}, 0},
		{"33 s: 93 s there, 17 s sooner", half, nil, 0, []balance.State{node(2, 33, 100)}, 2},
		{"the same with a checkpoint that takes 13 s", half, nil, 130e6, []balance.State{node(2, 33, 100)}, 0},
		{"the same with inputs that take 13 s", half, nil, 0, []balance.State{node(lacking, 33, 100)}, 0},
		{"one that is slower, and has them", half, nil, 0, []balance.State{node(lacking, 0, 100), node(2, 9, 100)}, 2},
		{"the best of several", half, nil, 0, []balance.State{node(2, 0, 100), node(3, 0, 50), node(4, 9, 60)}, 3},
		{"only itself", half, nil, 0, []balance.State{node(1, 0, 1)}, 0},
		{"what is no number", half, nil, 0, []balance.State{{Node: grid.NodeID{2}, ECT: -1}}, 0},
		{"it says that 99 of 100 are done: 61 s here, 11 s there", half, &grid.Progress{Done: 99, Total: 100}, 0,
			[]balance.State{node(2, 0, 100)}, 2},
		{"so little that it is not worth it: 70 s there", half, &grid.Progress{Done: 99, Total: 100}, 0,
			[]balance.State{node(2, 50, 100)}, 0},
		{"it runs, and elsewhere is as fast", runs, nil, 0, []balance.State{node(2, 0, 100)}, 0},
		{"it runs, and elsewhere is twice as fast: 25 s", runs, nil, 0, []balance.State{node(2, 0, 50)}, 2},
		{"a tenth sooner", grid.Movable{Wait: 600 * second}, nil, 0, []balance.State{node(2, 535, 100)}, 0},
		{"it has run for longer than expected: a tenth is left, 10 s", grid.Movable{Ran: 300 * second, Kept: 300 * second},
			nil, 0, []balance.State{node(2, 0, 60)}, 0},
	} {
		var task Task
		v := weigh(&task, c.is, c.said, c.bytes, c.nodes...)
		if v.To != (grid.NodeID{c.want}) || (v.Text != "") != (c.want != 0) {
			t.Errorf("%s: to %v, %q; want %d", c.what, v.To[0], v.Text, c.want)
		}
		if to := task.Moved(); to != v.To {
			t.Errorf("%s: it goes on at %v", c.what, to[0])
		}
	}
	if v := weigh(new(Task), half, nil, 0, node(2, 0, 100)); !strings.Contains(v.Text,
		"to c: done there in 1m0s and 5s for the move, here in 1m50s") {
		t.Errorf("%q", v.Text)
	}
	if v := new(Task).Weigh(&Situation{Is: &half, Nodes: []balance.State{node(2, 0, 1)}}); !v.To.IsZero() {
		t.Error("it moves though nobody knows how long it takes")
	}
}

// What earlier attempts have left in checkpoints is done.
func TestWorkBeforeAMoveCounts(t *testing.T) {
	var task Task
	weigh(&task, grid.Movable{Wait: 60 * second, Ran: 50 * second, Kept: 40 * second}, nil, 0, node(2, 0, 100))
	task.Moved()
	s := &Situation{Whole: 100, Is: &grid.Movable{Ran: 20 * second, Kept: 15 * second}}
	if left, again := s.left(&task); left < 0.39 || left > 0.41 || again != 0.05 {
		t.Errorf("left %v, again %v: want 1 − 0.4 − 0.2, and 0.05", left, again)
	}
}

// A task is looked at less and less often, until it has moved.
func TestLooks(t *testing.T) {
	var task Task
	var at []int
	for s := range 200 {
		if task.Looks(grid.Time(s) * grid.Time(second)) {
			at = append(at, s)
		}
	}
	want := []int{0, 2, 6, 14, 30, 62, 122, 182}
	for i := range want {
		if i >= len(at) || at[i] != want[i] {
			t.Fatalf("looked at after %v s: want %v", at, want)
		}
	}
	if task.Moved(); !task.Looks(grid.Time(199 * second)) {
		t.Error("it has moved, and is not looked at where it runs now")
	}
}

// One task of an owner moves at a time, and the next only when the news of it has come.
func TestTurn(t *testing.T) {
	var turn Turn
	at := func(s time.Duration) grid.Time { return grid.Time(s * second) }
	if !turn.Free(at(0)) {
		t.Error("nobody has the turn")
	}
	turn.Take(at(0), 7, 12*second)
	turn.End(at(1), 8, true)
	if turn.Free(at(2)) || !turn.Free(at(12)) {
		t.Error("want that another task does not end it, and that it ends by itself")
	}
	turn.End(at(3), 7, true)
	if turn.Free(at(4)) || !turn.Free(at(5)) {
		t.Error("want that it is free 2 s after the task has moved")
	}
	turn.Take(at(6), 9, 12*second)
	if turn.End(at(7), 9, false); !turn.Free(at(7)) {
		t.Error("want that it is free at once when the task stays")
	}
}

// A new owner counts as many moves as can have been made.
func TestMostMade(t *testing.T) {
	for _, c := range []struct {
		epoch, n, before uint32
		want             uint8
	}{{1, 1, 0, 0}, {1, 3, 2, 2}, {1, 30, 29, 8}, {2, 1, 0, 8}, {0, 0, 0, 8}} {
		if got := MostMade(grid.Attempt{Epoch: c.epoch, N: c.n}, c.before, 8); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// Under PE-T a task goes on at a node that is idle, or where what runs bids so many times less; not where it would
// merely be done sooner.
func TestThresholdOfMoves(t *testing.T) {
	at := func(n balance.State, outbid grid.Bid) balance.State {
		n.Outbid = outbid
		return n
	}
	for _, c := range []struct {
		factor float64
		node   balance.State
		moves  bool
	}{
		{0, node(2, 10, 100), true},
		{2, node(2, 10, 100), false},
		{2, at(node(2, 10, 100), 1500), true},
		{2, at(node(2, 10, 100), 1501), false},
		{2, node(2, 0, 100), true},
	} {
		v := new(Task).Weigh(&Situation{Here: grid.NodeID{1}, Whole: 100, Is: &grid.Movable{Wait: time.Minute}, Bid: 3000,
			Outbid: c.factor, Nodes: []balance.State{c.node}, Lacks: func(grid.NodeID) float64 { return 0 },
			Transfer: func(time.Duration, float64) float64 { return 0 }, Name: func(grid.NodeID) string { return "" }})
		if v.To.IsZero() == c.moves {
			t.Errorf("%+v: it moves: %v", c, !c.moves)
		}
	}
}
