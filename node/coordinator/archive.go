package coordinator

import (
	"cmp"
	"slices"
	"strings"

	"skep/grid"
)

// archive holds the ended jobs, ordered by their end; the oldest are evicted first.
type archive struct {
	jobs    []packedJob        // including holes
	holes   int                // number of holes from head on
	head    int                // jobs before it were removed
	shifted int                // number of jobs removed from the slice's front so far
	index   map[grid.JobID]int // place + shifted + head of each job; nil while there are few
	tasks   int                // in all jobs
	packed  int                // number of packed jobs
	replica *replica           // of each unpacked job; nil = none was unpacked yet
}

// smallArchive is the size up to which the archive is searched linearly, without an index.
const smallArchive = 64

// archiveGrowth is the least number of jobs by which the archive grows.
const archiveGrowth = 2

// finished are the jobs that are over.
type finished struct {
	archive archive // oldest end first
	packing []*job  // to be packed after this step
}

func (a *archive) len() int            { return len(a.jobs) - a.head - a.holes }
func (a *archive) all() []packedJob    { return a.jobs[a.head:] }
func (a *archive) at(i int) *packedJob { return &a.jobs[a.head+i] }

// isHole reports whether the job at this place was removed.
func (f *packedJob) isHole() bool { return f.open == nil && f.spec == nil }

// find returns a job's place, −1 if absent. Places are ordered; they change when jobs are removed.
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

// is reports whether f holds that job.
func (f *packedJob) is(id grid.JobID) bool {
	if f.open != nil {
		return f.open.id == id
	}
	return strings.HasPrefix(f.packed, string(id.Nonce[:]))
}

// id returns the job's ID. Only jobs submitted at self are packed.
func (f *packedJob) id(self grid.NodeID) grid.JobID {
	if f.open != nil {
		return f.open.id
	}
	id := grid.JobID{Origin: self}
	copy(id.Nonce[:], f.packed)
	return id
}

func (a *archive) add(self grid.NodeID, j *job) {
	a.jobs = append(grid.Room(a.jobs, archiveGrowth), packedJob{nonce: noncePrefix(j.id), open: j})
	a.tasks += j.size()
	switch {
	case a.index != nil:
		a.index[j.id] = a.shifted + len(a.jobs) - 1
	case a.len() > smallArchive:
		a.index = make(map[grid.JobID]int, 2*smallArchive)
		a.reindex(func(f *packedJob) grid.JobID { return f.id(self) })
	}
}

// sort orders the jobs by their ends. None may be packed yet.
func (a *archive) sort() {
	slices.SortStableFunc(a.all(), func(x, y packedJob) int { return cmp.Compare(x.open.done, y.open.done) })
	a.reindex(func(f *packedJob) grid.JobID { return f.open.id })
}

// reindex rebuilds the index, if there is one.
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

// remove removes the job at place i and leaves a hole; the slice is compacted when the holes outnumber the jobs.
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
	rest := a.jobs[:0]
	for _, f := range a.all() {
		if !f.isHole() {
			rest = append(rest, f)
		}
	}
	clear(a.jobs[len(rest):])
	a.jobs, a.shifted, a.head, a.holes = rest, 0, 0, 0
	a.reindex(func(f *packedJob) grid.JobID { return f.id(self) })
}

// shift removes and returns the oldest job.
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
		left := copy(a.jobs, a.jobs[a.head:])
		clear(a.jobs[left:])
		a.jobs, a.shifted, a.head = a.jobs[:left], a.shifted+a.head, 0
	}
	return f
}

// size returns the number of the job's tasks.
func (f *packedJob) size() int {
	if f.open != nil {
		return f.open.size()
	}
	return int(f.spec.Count)
}

// forgetEntries deletes a job's entries from disk.
func (c *Coordinator) forgetEntries(j *job, fx *grid.Effects) {
	known := 0
	for range j.known() {
		known++
	}
	if known > maxForgottenSingly {
		c.forgetEntry(j, 0, fx)
		fx.Saves[len(fx.Saves)-1].Entry.Further = j.spec.Count
		return
	}
	for i := range j.known() {
		c.forgetEntry(j, i, fx)
	}
	c.forgetEntry(j, j.spec.Count, fx)
}

func (c *Coordinator) forgetEntry(j *job, i uint32, fx *grid.Effects) {
	rec := fx.Save(grid.RecEntry)
	rec.Delete = true
	rec.Entry.ID.Task = grid.TaskID{Job: j.id, Index: i}
}

// maxForgottenSingly is the number of a job's entries up to which each is deleted by a record of its own.
const maxForgottenSingly = 1000

// buryJob forgets a job that is over, but for its tombstone.
func (c *Coordinator) buryJob(j *job, fx *grid.Effects) {
	j.replica.Bury(max(j.done, j.submitted), fx)
	c.forgetJob(j, fx)
}

// forgetJob deletes a job from memory and disk.
func (c *Coordinator) forgetJob(j *job, fx *grid.Effects) {
	c.forgetEntries(j, fx)
	rec := fx.Save(grid.RecRegister)
	rec.Delete, rec.Register.ID = true, j.id
	c.deposits.Release(&j.replica.files)
	c.quota.Forget(j.id)
	c.jobs.Drop(j.id)
}
