package barrier

import (
	"time"

	"skep/grid"
	"skep/heap"
)

// Job is a job whose barrier is raised.
type Job interface {
	Key() grid.JobID
	QuietAt() grid.Time // attempts that were given up may start until then
}

// Set is the barriers that are raised, by the time of their next check.
type Set struct {
	barriers heap.Heap[grid.Time, *Barrier, byJob]
	wake     grid.Time // time of the next check
}

// byJob orders barriers that are to be checked at the same time.
type byJob struct{}

// Before implements [heap.Order].
func (byJob) Before(a, b *Barrier) bool { return a.of.Key().Compare(b.of.Key()) < 0 }

// NewSet returns an empty set.
func NewSet() (s Set) {
	s.barriers.Track((*Barrier).setIndex)
	return s
}

func (b *Barrier) setIndex(i int) { b.index = i }

// Len returns the number of barriers.
func (s *Set) Len() int { return s.barriers.Len() }

// Raise raises a barrier of a job, which is checked at once.
func (s *Set) Raise(of Job, b *Barrier) {
	b.of = of
	s.barriers.Push(0, b)
}

// Lower removes a barrier.
func (s *Set) Lower(b *Barrier) { s.barriers.Remove(b.index) }

// Due returns a barrier that is to be checked, and its job; nil = there is none.
func (s *Set) Due(now grid.Time) (*Barrier, Job) {
	if s.barriers.Len() > 0 {
		if due, b := s.barriers.First(); due <= now {
			return b, b.of
		}
	}
	return nil, nil
}

// Check lowers a barrier behind which nothing can start any more, and reports whether it did: see [Barrier.Check].
func (s *Set) Check(now grid.Time, b *Barrier, lease time.Duration, fx *grid.Effects) bool {
	lowered, next := b.Check(now, b.of.QuietAt(), lease, fx)
	if lowered {
		s.Lower(b)
	} else {
		s.barriers.Update(b.index, next)
	}
	return lowered
}

// Wake sets the timer of that key for the next check, unless it is set.
func (s *Set) Wake(now grid.Time, key uint64, fx *grid.Effects) {
	if s.barriers.Len() == 0 {
		return
	}
	if next, _ := s.barriers.First(); s.wake <= now || next < s.wake {
		s.wake = max(next, now)
		fx.Wake(s.wake, grid.TimerRegister, key)
	}
}
