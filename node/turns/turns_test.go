package turns

import (
	"testing"

	"skep/balance/order"
	"skep/grid"
)

func fair() *order.Config {
	c := order.Defaults()
	c.Rule = "fair"
	return &c
}

func key(node byte, class string) order.Key {
	return order.Key{Bid: grid.UsualBid, Node: grid.NodeID{node}, Class: class}
}

// A job of a class of which nothing is known takes turns with the others: its tasks count with what others take on the
// average. So do all ranks of a gang, which has left the queue when it has its workers.
func TestUnknownClassesAndGangsTakeTurns(t *testing.T) {
	q := New[byte](fair(), func(string) float64 { return 0 }, func(byte, int) {})
	for n := byte(1); n <= 2; n++ {
		q.Push(key(n, "c"), uint64(n), 0, n)
	}
	q.Placed(0, Task{Key: key(3, "g"), Cores: 4, Time: 10}) // not in the queue
	placed := map[byte]int{}
	now := grid.Time(0)
	for range 60 {
		j := q.First(now)
		placed[j]++
		x := Task{Key: key(j, "c"), Cores: 1, Time: 10}
		if j == 2 {
			x.Time = 0
		}
		q.Placed(now, x)
		now++
	}
	if placed[1] != 30 || placed[2] != 30 {
		t.Errorf("%v of 60 placements, want 30 each", placed)
	}
	if got := q.lines.Used(now, grid.NodeID{3}); got < 39 || got > 40 {
		t.Errorf("a gang of 4 ranks of 10 s counts with %g core-seconds, want 40", got)
	}
}

// An owner that orders by arrival counts nothing, and one without jobs keeps nothing.
func TestNothingIsKeptInVain(t *testing.T) {
	q := New[byte](fair(), func(string) float64 { return 0 }, func(byte, int) {})
	if q.Placed(0, Task{Key: key(1, "c"), Cores: 1, Time: 1}); q.lines != nil || q.Len() != 0 {
		t.Error("lines are made before a job comes")
	}
}
