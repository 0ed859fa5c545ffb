package mapping

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"skep/balance"
	"skep/grid"
)

// asked are peers of which the even ones can be asked.
type asked []grid.NodeID

func (a *asked) Ask(id grid.NodeID, _ string, _ *grid.Effects) *grid.Message {
	if id[0]%2 == 1 {
		return nil
	}
	*a = append(*a, id)
	return new(grid.Message)
}

// A node that needs no question has answered; one that cannot be asked has not, and is not waited for.
func TestNodesAreAsked(t *testing.T) {
	e, m := events(), two()
	m[1].View[1].Answer = true // of node 3
	var peers asked
	e.begin(100 * second)
	e.AskAll([]grid.NodeID{id(1), id(2), id(3)}, m, &peers, nil)
	if !slices.Equal(peers, asked{id(2)}) || !slices.Equal(e.Asked, peers) || len(e.Answers) != 1 ||
		e.Answers[0].Node != id(3) {
		t.Errorf("asked %v, noted %v, answers %v: want node 2, and the answer of 3", peers, e.Asked, e.Answers)
	}
}

// owner writes down what it is to do; it has room for so many offers, and refuses those of node 2.
type owner struct {
	room int
	log  string
}

func (o *owner) HasRoom() bool { return o.room > 0 }

func (o *owner) Offer(kind int, x balance.Choice, _ []balance.State) bool {
	if x.Node == id(2) {
		return false
	}
	o.room--
	o.log += fmt.Sprintf("offer %d to %d; ", kind, x.Node[0])
	return true
}

func (o *owner) Keep(kind int, end float64) { o.log += fmt.Sprintf("keep %d until %g; ", kind, end) }

// What begins before the next event is offered as long as there is room and its owner can; the rest is kept until the
// last of it is expected to end, or what has no place would. Nodes 1 and 3 begin with a task each; the third task of
// the first kind has to wait for node 1 for longer than until the next event.
func TestAPlanIsCarriedOut(t *testing.T) {
	for _, c := range []struct {
		room int
		want string
		full bool
	}{
		{9, "offer 0 to 1; offer 1 to 3; keep 0 until 8; ", false},
		{1, "offer 0 to 1; keep 0 until 8; keep 1 until 13; ", true},
		{0, "keep 0 until 8; keep 1 until 13; ", true},
	} {
		p, err := balance.Make("min_min", &balance.Config{}, grid.NewRand(1, 2))
		if err != nil {
			t.Fatal(err)
		}
		var s Set
		e, o := s.Add("min_min", 1, Config{MappingInterval: 3 * time.Second}, nil), &owner{room: c.room}
		e.Begin(100 * second)
		e.Polling, e.Answers = false, append(append(states(0, 4, 1), states(2, 4, 2)...), states(0, 4, 3)...)
		e.Finish(100*second, two(), p.(balance.Mapper), 5, o)
		if o.log != c.want || e.full != c.full {
			t.Errorf("with room for %d: %q, full %v; want %q, %v", c.room, o.log, e.full, c.want, c.full)
		}
		if at := e.DueAt(100*second, false); at != 103*second { // the third task begins in 4 s
			t.Errorf("with room for %d the next event is at %v, want in 3 s", c.room, time.Duration(at))
		}
	}
}

func TestTheHighestBidIsFirst(t *testing.T) {
	tasks := []Bidder[int]{{5, 1, 7, 2, 0}, {4, 1, 7, 1, 9}, {3, 1, 7, 1, 8}, {2, 1, 6, 3, 0}, {1, 2, 9, 9, 9}}
	SortByBid(tasks)
	for i, b := range tasks {
		if b.Task != i+1 {
			t.Errorf("task %d stands at place %d", b.Task, i+1)
		}
	}
}
