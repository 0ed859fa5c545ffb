package node

import (
	"slices"

	"skep/grid"
)

// pendingSubmission is a submission whose members are not chosen yet. Nothing of it is on disk, and nobody was told of it. Who is
// chosen must have answered just now: once somebody was told of the job its members are fixed, for two sets of
// members could each have a majority.
type pendingSubmission struct {
	id      grid.JobID
	spec    *grid.JobSpec
	callers []uint64
	since   grid.Time
	probed  []grid.NodeID // who was asked first, as far apart as can be: for a while nobody else will do
	done    bool          // it is not one any more
}

func (f *pendingSubmission) key() grid.JobID { return f.id }

// pendingSubmissions are the submissions whose members are not chosen yet. Whose answer one of them waits for knows it (pair.awaits), so that of many
// none is looked at without a reason. Those that only some nodes may keep stand in a line of their own: they do not hold up the others.
type pendingSubmissions struct {
	by     lookup[grid.JobID, *pendingSubmission]
	queues [2]submissionQueue // of jobs that any member may see, and of those that only their owner may
}

// submissionQueue are submissions that the same nodes may keep.
type submissionQueue struct {
	waiting []*pendingSubmission // oldest first; the first is one, of the others some are over
	unasked []*pendingSubmission // the newest of them, for which nobody was asked because nobody could be
	done    int                  // so many of the list
}

// queueOf is the one that a submission stands in.
func (s *pendingSubmissions) queueOf(f *pendingSubmission) *submissionQueue {
	if f.spec.Access() == grid.AccessOwner {
		return &s.queues[1]
	}
	return &s.queues[0]
}

// all lists the submissions of both lines.
func (s *pendingSubmissions) all() []*pendingSubmission {
	return slices.Concat(s.queues[0].waiting, s.queues[1].waiting)
}

func (s *pendingSubmissions) add(f *pendingSubmission) {
	s.by.put(f)
	l := s.queueOf(f)
	l.waiting, l.unasked = append(l.waiting, f), append(l.unasked, f)
}

// remove takes one out; the list has it until trim.
func (s *pendingSubmissions) remove(f *pendingSubmission) {
	s.by.drop(f.id)
	f.done = true
	s.queueOf(f).done++
}

// trim takes those that are over off the front of the list, and all of them when they are many.
func (s *submissionQueue) trim() {
	gone := 0
	for gone < len(s.waiting) && s.waiting[gone].done {
		gone++
	}
	clear(s.waiting[:gone])
	s.waiting, s.done = s.waiting[gone:], s.done-gone
	if 2*s.done > len(s.waiting) {
		s.waiting, s.done = slices.DeleteFunc(s.waiting, func(f *pendingSubmission) bool { return f.done }), 0
	}
	if len(s.waiting) == 0 {
		s.waiting, s.unasked = nil, nil
	}
}
