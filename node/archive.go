package node

import (
	"cmp"
	"slices"
	"strings"

	"skep/grid"
)

// archive is the jobs that have ended, in order of their ends: the first goes when there are too many.
type archive struct {
	jobs   []filed            // with holes
	holes  int                // from first on
	first  int                // those before it are gone
	gone   int                // others were, that the slice no longer has
	by     map[grid.JobID]int // places counted from the first ever, once they are many
	tasks  int                // in all of them
	packed int                // how many are
}

// fewFiled are looked through.
const fewFiled = 64

func (a *archive) len() int        { return len(a.jobs) - a.first - a.holes }
func (a *archive) all() []filed    { return a.jobs[a.first:] }
func (a *archive) at(i int) *filed { return &a.jobs[a.first+i] }

// hole reports that a job was taken out here.
func (f *filed) hole() bool { return f.open == nil && f.spec == nil }

// find returns the place of a job, −1 if it is not here. Places are in order, and change when jobs are taken out.
func (a *archive) find(id grid.JobID) int {
	if a.by != nil {
		if at, ok := a.by[id]; ok {
			return at - a.gone - a.first
		}
		return -1
	}
	head := nonceHead(id)
	for i := range a.all() {
		if f := a.at(i); f.head == head && f.is(id) {
			return i
		}
	}
	return -1
}

// is reports whether f is of that job.
func (f *filed) is(id grid.JobID) bool {
	if f.open != nil {
		return f.open.id == id
	}
	return strings.HasPrefix(f.packed, string(id.Nonce[:]))
}

// id is of one of the jobs of self: no other is packed.
func (f *filed) id(self grid.NodeID) grid.JobID {
	if f.open != nil {
		return f.open.id
	}
	id := grid.JobID{Origin: self}
	copy(id.Nonce[:], f.packed)
	return id
}

// add appends a job that has just ended.
func (a *archive) add(self grid.NodeID, j *job) {
	a.jobs = append(grid.Room(a.jobs, few), filed{head: nonceHead(j.id), open: j})
	a.tasks += j.size()
	switch {
	case a.by != nil:
		a.by[j.id] = a.gone + len(a.jobs) - 1
	case a.len() > fewFiled:
		a.by = make(map[grid.JobID]int, 2*fewFiled)
		a.count(func(f *filed) grid.JobID { return f.id(self) })
	}
}

// sort puts jobs of which none is packed yet into the order of their ends.
func (a *archive) sort() {
	slices.SortStableFunc(a.all(), func(x, y filed) int { return cmp.Compare(x.open.done, y.open.done) })
	a.count(func(f *filed) grid.JobID { return f.open.id })
}

// count notes where each job is, once they are many.
func (a *archive) count(id func(*filed) grid.JobID) {
	if a.by == nil {
		return
	}
	for i := range a.all() {
		if f := a.at(i); !f.hole() {
			a.by[id(f)] = a.gone + a.first + i
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
	delete(a.by, f.id(self))
	*a.at(i) = filed{}
	if a.holes++; a.holes <= max(fewFiled, a.len()) {
		return
	}
	kept := a.jobs[:0]
	for _, f := range a.all() {
		if !f.hole() {
			kept = append(kept, f)
		}
	}
	clear(a.jobs[len(kept):])
	a.jobs, a.gone, a.first, a.holes = kept, 0, 0, 0
	a.count(func(f *filed) grid.JobID { return f.id(self) })
}

// shift takes the first out.
func (a *archive) shift(self grid.NodeID) filed {
	for a.at(0).hole() {
		a.first++
		a.holes--
	}
	f := *a.at(0)
	a.tasks -= f.size()
	delete(a.by, f.id(self))
	if f.open == nil {
		a.packed--
	}
	*a.at(0) = filed{}
	if a.first++; a.first > len(a.jobs)/2 {
		kept := copy(a.jobs, a.jobs[a.first:])
		clear(a.jobs[kept:])
		a.jobs, a.gone, a.first = a.jobs[:kept], a.gone+a.first, 0
	}
	return f
}

// size is how many tasks the job has.
func (f *filed) size() int {
	if f.open != nil {
		return f.open.size()
	}
	return int(f.spec.Count)
}
