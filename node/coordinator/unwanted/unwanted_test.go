package unwanted

import (
	"testing"

	"skep/grid"
)

func attemptNumber(n int) grid.AttemptID {
	return grid.AttemptID{Attempt: grid.Attempt{Epoch: 1, N: uint32(n)}}
}

// A result is forgotten when as many others came as are counted, and is counted again from one.
func TestResultsAreBounded(t *testing.T) {
	var r Results
	from := grid.NodeID{1}
	for range maxRepeats {
		r.Count(from, attemptNumber(0))
	}
	for n := range maxResults - 1 {
		r.Count(from, attemptNumber(n+1))
	}
	if !r.Count(from, attemptNumber(0)) {
		t.Error("a result that came too often is not found")
	}
	r.Count(from, attemptNumber(maxResults))
	if r.Count(from, attemptNumber(0)) {
		t.Error("more results are counted than the bound allows")
	}
}
