package marketplace

import "testing"

// A task that the matcher may still hear of is there after its result and those of its piece are back; others are not.
func TestKeptTasks(t *testing.T) {
	for _, kept := range []bool{false, true} {
		s := new(store)
		for range pieceSize {
			s.add(task{})
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
