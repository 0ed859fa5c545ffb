package node

import (
	"slices"

	"skep/grid"
	"skep/sparse"
)

// pendingSubmission is a submission whose members are not chosen yet. Nothing of it is on disk and no other node knows
// of it. A chosen member must have answered just now: once any node knows the job its members are fixed, since two sets
// of members could each have a majority.
type pendingSubmission struct {
	id      grid.JobID
	spec    *grid.JobSpec
	callers []uint64
	since   grid.Time
	probed  []grid.NodeID // preferred members, spread over failure domains; for a while no others are accepted
	done    bool          // members are chosen, or the submission failed
}

func (p *pendingSubmission) Key() grid.JobID { return p.id }

// pendingSubmissions are the submissions whose members are not chosen yet. They are listed by the node whose answer they
// await, so an answer looks only at the submissions it concerns. Submissions that only some nodes
// may store queue separately, so that they do not hold up the others.
type pendingSubmissions struct {
	by     sparse.Map[grid.JobID, *pendingSubmission]
	queues [2]submissionQueue // jobs that any member may see; jobs that only their owner may see

	awaited map[grid.NodeID][]*pendingSubmission // by the node whose answer they await; may hold done ones
}

// submissionQueue are submissions that the same nodes may store.
type submissionQueue struct {
	waiting  []*pendingSubmission // oldest first; the first is pending, later ones may be done
	unprobed []*pendingSubmission // newest of waiting, whose candidates were not probed since none was available
	done     int                  // number of done ones in waiting
}

func (s *pendingSubmissions) queueOf(p *pendingSubmission) *submissionQueue {
	if p.spec.Access() == grid.AccessOwner {
		return &s.queues[1]
	}
	return &s.queues[0]
}

// all lists the submissions of both queues.
func (s *pendingSubmissions) all() []*pendingSubmission {
	return slices.Concat(s.queues[0].waiting, s.queues[1].waiting)
}

func (s *pendingSubmissions) add(p *pendingSubmission) {
	s.by.Put(p)
	l := s.queueOf(p)
	l.waiting, l.unprobed = append(l.waiting, p), append(l.unprobed, p)
}

// remove marks a submission as done; waiting holds it until trim.
func (s *pendingSubmissions) remove(p *pendingSubmission) {
	s.by.Drop(p.id)
	p.done = true
	s.queueOf(p).done++
}

// await lists a submission that waits for a node's answer.
func (s *pendingSubmissions) await(id grid.NodeID, p *pendingSubmission) {
	if s.awaited == nil {
		s.awaited = make(map[grid.NodeID][]*pendingSubmission)
	}
	l := s.awaited[id]
	if len(l) == cap(l) {
		l = slices.DeleteFunc(l, func(p *pendingSubmission) bool { return p.done })
	}
	s.awaited[id] = append(l, p)
}

// takeAwaiting returns the submissions that wait for a node's answer, and forgets that they do.
func (s *pendingSubmissions) takeAwaiting(id grid.NodeID) []*pendingSubmission {
	l := s.awaited[id]
	delete(s.awaited, id)
	return l
}

// clearAwaited forgets whose answers are awaited: no submission is left.
func (s *pendingSubmissions) clearAwaited() { s.awaited = nil }

// trim removes done submissions from the front, and all of them once they are the majority.
func (s *submissionQueue) trim() {
	front := 0
	for front < len(s.waiting) && s.waiting[front].done {
		front++
	}
	clear(s.waiting[:front])
	s.waiting, s.done = s.waiting[front:], s.done-front
	if 2*s.done > len(s.waiting) {
		s.waiting, s.done = slices.DeleteFunc(s.waiting, func(p *pendingSubmission) bool { return p.done }), 0
	}
	if len(s.waiting) == 0 {
		s.waiting, s.unprobed = nil, nil
	}
}
