package peers

import (
	"testing"

	"skep/grid"
)

func inputs(sizes ...grid.Bytes) *grid.JobSpec {
	s := &grid.JobSpec{}
	for k, size := range sizes {
		s.Inputs = append(s.Inputs, grid.File{Blob: grid.BlobID{byte(k), byte(k >> 8)}, Size: size})
	}
	return s
}

// A node lacks what it is not known to have, file by file: other nodes lack all, and another job may share some.
// Files that are too small to remember do not count.
func TestBytesThatANodeLacks(t *testing.T) {
	var h holders
	a, b := grid.NodeID{1}, grid.NodeID{2}
	job := inputs(10*grid.MiB, 200*grid.MiB, 1000)
	h.has(a, inputs(10*grid.MiB), true)
	for id, want := range map[grid.NodeID]float64{a: 200 << 20, b: 210 << 20} {
		if got := h.lacks(id, job); got != want {
			t.Errorf("node %d lacks %.0f bytes, want %.0f", id[0], got, want)
		}
	}
	h.has(a, job, true)
	if got := h.lacks(a, job); got != 0 {
		t.Errorf("it lacks %.0f bytes", got)
	}
	if h.lacks(a, nil) != 0 || h.lacks(a, inputs()) != 0 {
		t.Error("without inputs it lacks some")
	}
}

// What is remembered is bounded, and the oldest goes first.
func TestHoldersAreBounded(t *testing.T) {
	var h holders
	first := inputs(grid.MiB)
	h.has(grid.NodeID{1}, first, true)
	sizes := make([]grid.Bytes, mostHeld)
	for k := range sizes {
		sizes[k] = grid.MiB
	}
	h.has(grid.NodeID{2}, inputs(sizes...), true)
	if h.known.Len() != mostHeld || h.lacks(grid.NodeID{1}, first) == 0 || h.lacks(grid.NodeID{2}, first) != 0 {
		t.Errorf("%d are remembered, want %d, the oldest not among them", h.known.Len(), mostHeld)
	}
}
