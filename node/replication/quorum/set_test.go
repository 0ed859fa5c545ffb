package quorum

import (
	"math/bits"
	"testing"

	"skep/grid"
)

var five = []grid.NodeID{{1}, {2}, {3}, {4}, {5}}

// While a change is not settled, whoever decides has a majority of the members before it and one of those after it; so
// what was decided before it, and what is decided once it is settled, is known to one of them.
func TestDecidersOfAChangeMeetThoseBeforeAndAfter(t *testing.T) {
	for _, members := range [][]grid.NodeID{five[:3], five} {
		for at := range members {
			before := First(members)
			m := before.Adding(grid.NodeID{9}).Change(at, 2)
			during := before.With(m)
			settled := *m
			settled.Extra = grid.NodeID{}
			after := during.With(&settled)
			decided := 0
			for a := range 1 << len(during.Places()) {
				for b := range 1 << len(during.Places()) {
					// by place during the change: who is before it has the newcomer's place at the end
					x, y := uint8(a), uint8(b)
					if !during.Decides(x) {
						continue
					}
					decided++
					if before.Decides(inPlacesBefore(y, at, len(members))) && x&y == 0 {
						t.Fatalf("%d members, %d replaced: %b decide before, %b during", len(members), at, y, x)
					}
					if after.Decides(y) && x&y&(1<<len(members)-1) == 0 {
						t.Fatalf("%d members, %d replaced: %b decide during, %b after", len(members), at, x, y)
					}
				}
			}
			if decided == 0 {
				t.Errorf("%d members, %d replaced: nobody decides", len(members), at)
			}
		}
	}
}

// inPlacesBefore are nodes, by their places during a change, by those before it; who was no member has none.
func inPlacesBefore(nodes uint8, at, size int) uint8 {
	was := nodes &^ (1 << at) & (1<<size - 1)
	if nodes&(1<<size) != 0 {
		was |= 1 << at
	}
	return was
}

// A node that is given the record decides nothing, whoever else does.
func TestWhoJoinsCountsForNothing(t *testing.T) {
	s := First(five).Adding(grid.NodeID{9})
	for nodes := range uint8(1 << 6) {
		if got, want := s.Decides(nodes), bits.OnesCount8(nodes&31) >= 3; got != want {
			t.Errorf("%b decide: %t, want %t", nodes, got, want)
		}
	}
	if s.Votes(5) || !s.Votes(4) || s.Votes(-1) {
		t.Error("who joins has a vote, or a member none")
	}
}

// The newest time is one that those who decide share.
func TestNewestTimeOfThoseThatDecide(t *testing.T) {
	s := First(five[:3])
	for _, c := range []struct{ times, want [3]grid.Time }{
		{[3]grid.Time{grid.Never, 7, 5}, [3]grid.Time{7}}, {[3]grid.Time{grid.Never, 0, 0}, [3]grid.Time{0}},
		{[3]grid.Time{4, 4, 9}, [3]grid.Time{4}},
	} {
		if got := s.Newest(c.times[:]); got != c.want[0] {
			t.Errorf("%v: %v, want %v", c.times, got, c.want[0])
		}
	}
}
