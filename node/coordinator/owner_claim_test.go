package coordinator

import (
	"testing"

	"skep/grid"
)

func attemptNumber(n int) grid.AttemptID {
	return grid.AttemptID{Attempt: grid.Attempt{Epoch: 1, N: uint32(n)}}
}

// A result is forgotten when as many others came as are counted, and is counted again from one.
func TestRepeatedResultsAreBounded(t *testing.T) {
	var r repeatedResults
	from := grid.NodeID{1}
	for range maxRepeats {
		r.count(from, attemptNumber(0))
	}
	for n := range maxRepeated - 1 {
		r.count(from, attemptNumber(n+1))
	}
	if !r.count(from, attemptNumber(0)) {
		t.Error("a result that came too often is not found")
	}
	r.count(from, attemptNumber(maxRepeated))
	if r.count(from, attemptNumber(0)) {
		t.Error("more results are counted than the bound allows")
	}
}
