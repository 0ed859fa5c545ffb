package worker

import (
	"testing"

	"skep/grid"
)

func attemptNumber(n int) grid.AttemptID {
	return grid.AttemptID{Attempt: grid.Attempt{Epoch: 1, N: uint32(n)}}
}

// The newest are kept, each once.
func TestTombstonesAreBounded(t *testing.T) {
	var s tombstones
	for n := range maxTombstones + 2 {
		s.add(tombstone{AttemptID: attemptNumber(n)})
		s.add(tombstone{AttemptID: attemptNumber(n)})
	}
	for n, want := range map[int]bool{0: false, 1: false, 2: true, maxTombstones + 1: true} {
		if s.has(tombstone{AttemptID: attemptNumber(n)}) != want {
			t.Errorf("has the attempt %d: %v, want %v", n, !want, want)
		}
	}
}
