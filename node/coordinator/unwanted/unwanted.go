package unwanted

import (
	"skep/fifo"
	"skep/grid"
)

const (
	maxResults = 256 // that are remembered
	maxRepeats = 8   // that lost answers can explain
)

// Results are the newest unwanted results, by who sent them. The zero value is empty.
type Results struct {
	times fifo.Map[result, int]
}

type result struct {
	from grid.NodeID
	id   grid.AttemptID
}

// Count counts an unwanted result, and reports whether it has come too often.
func (r *Results) Count(from grid.NodeID, id grid.AttemptID) bool {
	x := result{from, id}
	if times := r.times.Get(x); times != nil {
		*times++
		return *times > maxRepeats
	}
	if r.times.Len() == maxResults {
		r.times.RemoveOldest()
	}
	r.times.Add(x, 1)
	return false
}
