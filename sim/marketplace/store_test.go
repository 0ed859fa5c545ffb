package marketplace

import (
	"testing"

	"skep/balance/market"
)

// A task that the matcher may still hear of is there after its result and those of its piece are back; others are not.
func TestKeptTasks(t *testing.T) {
	for _, kept := range []bool{false, true} {
		s := new(store)
		for range pieceSize {
			s.add()
		}
		if kept {
			s.keep(7)
		}
		for id := uint32(1); id <= pieceSize; id++ {
			s.returned(id)
		}
		if x := s.get(7); (x != nil) != kept {
			t.Errorf("kept %v: %v", kept, x)
		}
	}
}

// A piece that is used again holds nothing of the tasks before.
func TestReusedPieces(t *testing.T) {
	s := new(store)
	for id := uint32(1); id <= 2*pieceSize; id++ {
		x := s.add()
		if want := (task{query: market.Query{ID: uint64(id)}}); *x != want {
			t.Fatalf("task %d begins as %+v", id, *x)
		}
		x.query.Size, x.moves, x.done = 1, 1, true
		s.returned(id)
	}
	if len(s.spare) != 1 {
		t.Errorf("%d spare pieces, want the one that served twice", len(s.spare))
	}
}
