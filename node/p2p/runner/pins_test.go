package runner

import (
	"bytes"
	"testing"

	"skep/grid"
	"skep/node/p2p/blob"
)

// When the entries of a job are deleted together the outputs of each of its tasks may be evicted, and no others.
func TestEntriesDeletedTogetherAreUnpinned(t *testing.T) {
	const size = 1000
	blobs, err := blob.Open(t.TempDir(), 4*size)
	if err != nil {
		t.Fatal(err)
	}
	p := newPins(blobs)
	entry := func(job byte, i uint32) *grid.EntryRecord {
		e := new(grid.EntryRecord)
		e.ID.Task = grid.TaskID{Job: grid.JobID{Nonce: [10]byte{job}}, Index: i}
		return e
	}
	put := func(b byte) (id grid.BlobID, err error) {
		id, _, err = blobs.Put(t.Context(), bytes.NewReader(bytes.Repeat([]byte{b}, size)), size, false)
		return id, err
	}
	for k := range byte(4) {
		id, err := put(k)
		if err != nil {
			t.Fatal(err)
		}
		e := entry(k/3, uint32(k%3))
		e.Held, e.Result = true, &grid.Result{Outputs: []grid.File{{Path: "out", Blob: id, Size: size}}}
		p.noteRecord(&grid.Record{Kind: grid.RecEntry, Entry: *e})
	}
	if _, err := put(10); err == nil {
		t.Fatal("a pinned blob is evicted")
	}
	e := entry(0, 0)
	e.Further = 5
	p.noteRecord(&grid.Record{Kind: grid.RecEntry, Delete: true, Entry: *e})
	for k := range byte(3) {
		if _, err := put(20 + k); err != nil {
			t.Errorf("no room for blob %d: %v", k, err)
		}
	}
	if _, found := p.results[entry(1, 0).ID.Task]; !found || len(p.results) != 1 {
		t.Errorf("results of %d tasks are pinned: want those of the other job", len(p.results))
	}
}
