package node

import (
	"cmp"
	"slices"
	"strings"

	"skep/grid"
)

// archive is the jobs that have ended, in order of their ends: the first goes when there are too many.
type archive struct {
	jobs    []packedJob        // with holes
	holes   int                // from first on
	head    int                // those before it are gone
	shifted int                // others were, that the slice no longer has
	index   map[grid.JobID]int // places counted from the first ever, once they are many
	tasks   int                // in all of them
	packed  int                // how many are
}

// smallArchive are looked through.
const smallArchive = 64

func (a *archive) len() int            { return len(a.jobs) - a.head - a.holes }
func (a *archive) all() []packedJob    { return a.jobs[a.head:] }
func (a *archive) at(i int) *packedJob { return &a.jobs[a.head+i] }

// isHole reports that a job was taken out here.
func (f *packedJob) isHole() bool { return f.open == nil && f.spec == nil }

// find returns the place of a job, −1 if it is not here. Places are in order, and change when jobs are taken out.
func (a *archive) find(id grid.JobID) int {
	if a.index != nil {
		if at, ok := a.index[id]; ok {
			return at - a.shifted - a.head
		}
		return -1
	}
	head := noncePrefix(id)
	for i := range a.all() {
		if f := a.at(i); f.nonce == head && f.is(id) {
			return i
		}
	}
	return -1
}

// is reports whether f is of that job.
func (f *packedJob) is(id grid.JobID) bool {
	if f.open != nil {
		return f.open.id == id
	}
	return strings.HasPrefix(f.packed, string(id.Nonce[:]))
}

// id is of one of the jobs of self: no other is packed.
func (f *packedJob) id(self grid.NodeID) grid.JobID {
	if f.open != nil {
		return f.open.id
	}
	id := grid.JobID{Origin: self}
	copy(id.Nonce[:], f.packed)
	return id
}

// add appends a job that has just ended.
func (a *archive) add(self grid.NodeID, j *job) {
	a.jobs = append(grid.Room(a.jobs, minGrowth), packedJob{nonce: noncePrefix(j.id), open: j})
	a.tasks += j.size()
	switch {
	case a.index != nil:
		a.index[j.id] = a.shifted + len(a.jobs) - 1
	case a.len() > smallArchive:
		a.index = make(map[grid.JobID]int, 2*smallArchive)
		a.reindex(func(f *packedJob) grid.JobID { return f.id(self) })
	}
}

// sort puts jobs of which none is packed yet into the order of their ends.
func (a *archive) sort() {
	slices.SortStableFunc(a.all(), func(x, y packedJob) int { return cmp.Compare(x.open.done, y.open.done) })
	a.reindex(func(f *packedJob) grid.JobID { return f.open.id })
}

// reindex notes where each job is, once they are many.
func (a *archive) reindex(id func(*packedJob) grid.JobID) {
	if a.index == nil {
		return
	}
	for i := range a.all() {
		if f := a.at(i); !f.isHole() {
			a.index[id(f)] = a.shifted + a.head + i
		}
	}
}

// remove takes one out of the middle. It leaves a hole; they are closed when they are many.
func (a *archive) remove(self grid.NodeID, i int) {
	f := *a.at(i)
	a.tasks -= f.size()
	if f.open == nil {
		a.packed--
	}
	delete(a.index, f.id(self))
	*a.at(i) = packedJob{}
	if a.holes++; a.holes <= max(smallArchive, a.len()) {
		return
	}
	kept := a.jobs[:0]
	for _, f := range a.all() {
		if !f.isHole() {
			kept = append(kept, f)
		}
	}
	clear(a.jobs[len(kept):])
	a.jobs, a.shifted, a.head, a.holes = kept, 0, 0, 0
	a.reindex(func(f *packedJob) grid.JobID { return f.id(self) })
}

// shift takes the first out.
func (a *archive) shift(self grid.NodeID) packedJob {
	for a.at(0).isHole() {
		a.head++
		a.holes--
	}
	f := *a.at(0)
	a.tasks -= f.size()
	delete(a.index, f.id(self))
	if f.open == nil {
		a.packed--
	}
	*a.at(0) = packedJob{}
	if a.head++; a.head > len(a.jobs)/2 {
		kept := copy(a.jobs, a.jobs[a.head:])
		clear(a.jobs[kept:])
		a.jobs, a.shifted, a.head = a.jobs[:kept], a.shifted+a.head, 0
	}
	return f
}

// size is how many tasks the job has.
func (f *packedJob) size() int {
	if f.open != nil {
		return f.open.size()
	}
	return int(f.spec.Count)
}
