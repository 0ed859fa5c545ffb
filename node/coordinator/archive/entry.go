package archive

import (
	"skep/grid"
	"skep/node/coordinator/packed"
	"skep/node/coordinator/retention"
)

// Open is a job in memory.
type Open interface {
	comparable
	Key() grid.JobID
	Size() int // number of its stored tasks
}

// Entry is a job in a list: packed, unless it is open for now or cannot be packed.
type Entry[J Open] struct {
	packed.Job
	Open J              // its zero value = it is packed
	Kept *retention.Job // its place among those that are kept
}

// EntryOf returns the entry of a job that is open.
func EntryOf[J Open](j J, kept *retention.Job) Entry[J] {
	return Entry[J]{Job: packed.Named(j.Key()), Open: j, Kept: kept}
}

// Pack replaces a job that is open by its packed form.
func (f *Entry[J]) Pack(p packed.Job) { *f = Entry[J]{Job: p, Kept: f.Kept} }

// Hole implements [Job].
func (f *Entry[J]) Hole() bool { return f.Packed() && !f.Full() }

// Packed implements [Job].
func (f *Entry[J]) Packed() bool {
	var none J
	return f.Open == none
}

// Is implements [Job].
func (f *Entry[J]) Is(id grid.JobID) bool {
	if f.Packed() {
		return f.Job.Is(id)
	}
	return f.MayBe(id) && f.Open.Key() == id
}

// ID implements [Job]. Only jobs submitted at self are packed.
func (f *Entry[J]) ID(self grid.NodeID) grid.JobID {
	if f.Packed() {
		return f.Job.ID(self)
	}
	return f.Open.Key()
}

// Tasks implements [Job].
func (f *Entry[J]) Tasks() int {
	if f.Packed() {
		return f.Job.Tasks()
	}
	return f.Open.Size()
}
