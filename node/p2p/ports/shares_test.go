package ports

import (
	"testing"

	"skep/grid"
)

func attempt(n int) grid.AttemptID {
	return grid.AttemptID{Attempt: grid.Attempt{Epoch: 1, N: uint32(n)}}
}

// Whoever comes later finds as much as each of those before leaves, and one that ends leaves its part.
func TestShares(t *testing.T) {
	s := newShares(0)
	one, two := grid.NodeID{1}, grid.NodeID{2}
	fill := func(id grid.AttemptID, n grid.NodeID) (count int) {
		for s.connect(id, n) {
			count++
		}
		return count
	}
	if got := fill(attempt(1), one); got != MostWithNode/2 {
		t.Errorf("alone with a node an attempt has %d connections: want %d", got, MostWithNode/2)
	}
	if got := fill(attempt(2), one); got != MostWithNode/4 {
		t.Errorf("a second one %d: want %d", got, MostWithNode/4)
	}
	for n := range byte(20) {
		fill(attempt(1), grid.NodeID{10 + n})
	}
	if got := s.all.held[attempt(1)]; got < MostForAll/3 || got > MostForAll/2 {
		t.Errorf("of all connections one has %d: want no more than half of what there may be", got)
	}
	if got := fill(attempt(3), two); got != MostWithNode/2 {
		t.Errorf("beside it another one has %d with a node: want %d", got, MostWithNode/2)
	}
	for range MostWithNode / 2 {
		s.disconnect(attempt(1), one)
	}
	if got := fill(attempt(2), one); got != MostWithNode/4 {
		t.Errorf("%d more after another has ended: want %d", got, MostWithNode/4)
	}
	for range MostWithNode / 2 {
		s.disconnect(attempt(2), one)
		s.disconnect(attempt(3), two)
	}
	if s.nodes[one] != nil || s.nodes[two] != nil || s.connections() != s.all.held[attempt(1)] {
		t.Errorf("%d connections are counted that have ended", s.connections()-s.all.held[attempt(1)])
	}
}
