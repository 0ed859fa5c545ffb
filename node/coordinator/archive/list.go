package archive

import (
	"slices"

	"skep/grid"
)

// Job is a job in a list. Its zero value is a hole: a job that was removed.
type Job interface {
	Hole() bool
	Packed() bool
	Is(id grid.JobID) bool // quick, for the most that are not
	ID(self grid.NodeID) grid.JobID
	Tasks() int
}

// List is the jobs of a node. Places in it are ordered; they change when jobs are removed.
type List[E any, P interface {
	*E
	Job
}] struct {
	Tasks  int // in all jobs
	Packed int // number of packed jobs

	jobs    []E                // including holes
	holes   int                // number of holes from head on
	head    int                // jobs before it were removed
	shifted int                // number of jobs removed from the slice's front so far
	index   map[grid.JobID]int // place + shifted + head of each job; nil while there are few
}

// small is the size up to which a list is searched linearly, without an index.
const small = 64

// growth is the least number of jobs by which a list grows.
const growth = 2

// Len returns the number of jobs.
func (a *List[E, P]) Len() int { return len(a.jobs) - a.head - a.holes }

// All returns the jobs, and holes.
func (a *List[E, P]) All() []E { return a.jobs[a.head:] }

// At returns the job at a place.
func (a *List[E, P]) At(i int) P { return &a.jobs[a.head+i] }

// Find returns a job's place, −1 if absent.
func (a *List[E, P]) Find(id grid.JobID) int {
	if a.index != nil {
		if at, ok := a.index[id]; ok {
			return at - a.shifted - a.head
		}
		return -1
	}
	for i := range a.All() {
		if a.At(i).Is(id) {
			return i
		}
	}
	return -1
}

// Add adds the job of that ID at the end.
func (a *List[E, P]) Add(self grid.NodeID, id grid.JobID, e E) {
	a.jobs = append(grid.Room(a.jobs, growth), e)
	a.Tasks += P(&e).Tasks()
	if P(&e).Packed() {
		a.Packed++
	}
	switch {
	case a.index != nil:
		a.index[id] = a.shifted + len(a.jobs) - 1
	case a.Len() > small:
		a.index = make(map[grid.JobID]int, 2*small)
		a.reindex(self)
	}
}

// Sort orders the jobs.
func (a *List[E, P]) Sort(self grid.NodeID, compare func(x, y P) int) {
	slices.SortStableFunc(a.All(), func(x, y E) int { return compare(&x, &y) })
	a.reindex(self)
}

// reindex rebuilds the index, if there is one.
func (a *List[E, P]) reindex(self grid.NodeID) {
	if a.index == nil {
		return
	}
	for i := range a.All() {
		if f := a.At(i); !f.Hole() {
			a.index[f.ID(self)] = a.shifted + a.head + i
		}
	}
}

// drop empties a place.
func (a *List[E, P]) drop(self grid.NodeID, f P) {
	a.Tasks -= f.Tasks()
	if f.Packed() {
		a.Packed--
	}
	delete(a.index, f.ID(self))
	var hole E
	*f = hole
}

// Remove removes the job at a place and leaves a hole; the list is compacted when the holes outnumber the jobs.
func (a *List[E, P]) Remove(self grid.NodeID, i int) {
	a.drop(self, a.At(i))
	if a.holes++; a.holes <= max(small, a.Len()) {
		return
	}
	rest := a.jobs[:0]
	for _, f := range a.All() {
		if !P(&f).Hole() {
			rest = append(rest, f)
		}
	}
	clear(a.jobs[len(rest):])
	a.jobs, a.shifted, a.head, a.holes = rest, 0, 0, 0
	a.reindex(self)
}

// Shift removes and returns the oldest job.
func (a *List[E, P]) Shift(self grid.NodeID) E {
	for a.At(0).Hole() {
		a.head++
		a.holes--
	}
	f := *a.At(0)
	a.drop(self, a.At(0))
	if a.head++; a.head > len(a.jobs)/2 {
		left := copy(a.jobs, a.jobs[a.head:])
		clear(a.jobs[left:])
		a.jobs, a.shifted, a.head = a.jobs[:left], a.shifted+a.head, 0
	}
	return f
}
