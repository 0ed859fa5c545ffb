package retention

import (
	"time"

	"skep/grid"
)

// MostAtOnce bounds the jobs that go in one step: their records are deleted in one transaction, and a wrong bound that
// an operator corrects soon has not cost much.
const MostAtOnce = 64

const (
	pause    = time.Second // between two steps in which so many went
	setAside = time.Minute // after it a job is looked at again
)

// Job is what is known of one job. A nil one is known of none: nothing is bounded.
type Job struct {
	ID grid.JobID

	ended grid.Time // may be before the run
	seq   uint64
	state state
	until grid.Time // set aside
	files []uint32  // that it holds
	after []grid.Dependency
	links [2]links
}

type state uint8

const (
	goesOn state = iota
	inOrder
	aside
)

// Jobs are those that a node knows, of one group: see [Groups].
type Jobs struct {
	bounds Config
	grace  time.Duration
	start  grid.Time
	seq    uint64

	order   list // over, but for those set aside
	aside   list // by until
	holders list // those of order that hold files
	blobs   blobs
	needed  map[grid.JobID]int // by jobs that go on; never iterated

	wake grid.Time // pending; 0 = none
	due  bool
}

// New returns those of a node that keeps jobs for grace after their ends in any case.
func New(c Config, grace time.Duration) Jobs {
	return Jobs{bounds: c, grace: max(grace, Grace), holders: list{which: 1}}
}

// EndedBefore returns when a job of an earlier run ended, on the clock of this one, by the record of its end and the
// time of the start. Both are wall time in Unix nanoseconds.
func (s *Jobs) EndedBefore(start, ended int64) grid.Time {
	return s.start.Add(-s.bounds.age(start, ended))
}

// Open takes note of a job that goes on. It returns nil if nothing is bounded.
func (s *Jobs) Open(id grid.JobID, spec *grid.JobSpec) *Job {
	if !s.bounds.Any() {
		return nil
	}
	j := &Job{ID: id}
	s.goOn(j, spec)
	return j
}

func (s *Jobs) goOn(j *Job, spec *grid.JobSpec) {
	j.state, j.after = goesOn, spec.After.Jobs
	j.files = s.blobs.hold(spec.Inputs, false, nil)
	if len(j.after) > 0 && s.needed == nil {
		s.needed = make(map[grid.JobID]int)
	}
	for i := range j.after {
		s.needed[j.after[i].Job]++
	}
}

// leave takes a job out of where it is.
func (s *Jobs) leave(j *Job) {
	switch j.state {
	case goesOn:
		for i := range j.after {
			id := j.after[i].Job
			if s.needed[id]--; s.needed[id] == 0 {
				delete(s.needed, id)
			}
		}
		j.after = nil
	case inOrder:
		if s.order.remove(j); len(j.files) > 0 {
			s.holders.remove(j)
		}
	case aside:
		s.aside.remove(j)
	}
}

// End takes note that a job that went on is over since ended, and holds these files from now on.
func (s *Jobs) End(j *Job, ended grid.Time, files []grid.File) {
	if j == nil {
		return
	}
	s.leave(j)
	old, over := j.files, j.state != goesOn
	j.files = s.blobs.hold(files, true, nil)
	s.blobs.release(old, over)
	s.seq++
	j.ended, j.seq, s.due = ended, s.seq, true
	s.enter(j)
}

func (s *Jobs) enter(j *Job) {
	j.state = inOrder
	if s.order.insert(j); len(j.files) > 0 {
		s.holders.insert(j)
	}
}

// Hold takes note that a job holds further files, if it is over.
func (s *Jobs) Hold(j *Job, files []grid.File) {
	if j == nil || j.state == goesOn || len(files) == 0 {
		return
	}
	if j.state == inOrder && len(j.files) == 0 {
		s.holders.insert(j)
	}
	j.files, s.due = s.blobs.hold(files, true, j.files), true
}

// Reopen takes note that a job that was over goes on.
func (s *Jobs) Reopen(j *Job, spec *grid.JobSpec) {
	if j == nil || j.state == goesOn {
		return
	}
	s.leave(j)
	old := j.files
	s.goOn(j, spec)
	s.blobs.release(old, true)
}

// Forget takes note that a job is forgotten.
func (s *Jobs) Forget(j *Job) {
	if j == nil {
		return
	}
	over := j.state != goesOn
	s.leave(j)
	s.blobs.release(j.files, over)
	*j = Job{ID: j.ID}
}

// needs reports whether a job that goes on waits for the end of another one, or uses what that left.
func (s *Jobs) needs(id grid.JobID) bool { return s.needed[id] > 0 }

// Len is the number of jobs that are over, if any bound is set.
func (s *Jobs) Len() int { return s.order.len + s.aside.len }

// Aside is how many of them are set aside.
func (s *Jobs) Aside() int { return s.aside.len }

// Bytes are those of the files that only jobs which are over hold, if any bound is set.
func (s *Jobs) Bytes() grid.Bytes { return s.blobs.bytes }
