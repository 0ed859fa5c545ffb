package membership

import (
	"cmp"
	"slices"

	"skep/grid"
)

// Job is a job whose members are chosen.
type Job struct {
	ID      grid.JobID
	Spec    *grid.JobSpec
	Callers []uint64      // they wait for the answer to the submission
	Since   grid.Time     // when it was first submitted
	Others  []grid.NodeID // its members besides this node; none = this node alone keeps it
}

// pendingSubmission is a submission whose members are not chosen yet. Nothing of it is on disk and no other node knows
// of it.
type pendingSubmission struct {
	Job
	probed []grid.NodeID // preferred members, spread over failure domains; for a while no others are accepted
	done   bool          // members are chosen, or the submission failed
}

// Key returns the job.
func (p *pendingSubmission) Key() grid.JobID { return p.ID }

// queue is the pending submissions that the same nodes may store. Those that only some nodes may store queue
// separately, so that they do not hold up the others.
type queue struct {
	features grid.FeatureSet      // that the members of its jobs must have
	waiting  []*pendingSubmission // oldest first; the first is pending, later ones may be done
	unprobed []*pendingSubmission // newest of waiting, whose candidates were not probed since none was available
	done     int                  // number of done ones in waiting
}

// queueOf returns the queue of a job, made if there is none.
func (s *Submissions) queueOf(spec *grid.JobSpec) *queue {
	features := spec.MemberFeatures()
	at, found := slices.BinarySearchFunc(s.queues, features,
		func(q *queue, f grid.FeatureSet) int { return cmp.Compare(q.features, f) })
	if !found {
		s.queues = slices.Insert(s.queues, at, &queue{features: features})
	}
	return s.queues[at]
}

// pending lists the submissions of all queues.
func (s *Submissions) pending() (all []*pendingSubmission) {
	for _, q := range s.queues {
		all = append(all, q.waiting...)
	}
	return all
}

// isPending reports whether any submission is.
func (s *Submissions) isPending() bool {
	return s.lists != nil && slices.ContainsFunc(s.queues, func(q *queue) bool { return len(q.waiting) > 0 })
}

func (s *Submissions) add(p *pendingSubmission) {
	s.by.Put(p)
	q := s.queueOf(p.Spec)
	q.waiting, q.unprobed = append(q.waiting, p), append(q.unprobed, p)
}

// remove marks a submission as done; waiting holds it until trim.
func (s *Submissions) remove(p *pendingSubmission) {
	s.by.Drop(p.ID)
	p.done = true
	s.queueOf(p.Spec).done++
}

// await lists a submission that waits for a node's answer.
func (s *Submissions) await(id grid.NodeID, p *pendingSubmission) {
	if s.awaited == nil {
		s.awaited = make(map[grid.NodeID][]*pendingSubmission)
	}
	l := s.awaited[id]
	if len(l) == cap(l) {
		l = slices.DeleteFunc(l, isDone)
	}
	s.awaited[id] = append(l, p)
}

// takeAwaiting returns the submissions that wait for a node's answer, and forgets that they do.
func (s *Submissions) takeAwaiting(id grid.NodeID) []*pendingSubmission {
	l := s.awaited[id]
	delete(s.awaited, id)
	return l
}

// trim removes done submissions from the front, and all of them once they are the majority.
func (q *queue) trim() {
	front := 0
	for front < len(q.waiting) && q.waiting[front].done {
		front++
	}
	clear(q.waiting[:front])
	q.waiting, q.done = q.waiting[front:], q.done-front
	if 2*q.done > len(q.waiting) {
		q.waiting, q.done = slices.DeleteFunc(q.waiting, isDone), 0
	}
	if len(q.waiting) == 0 {
		q.waiting, q.unprobed = nil, nil
	}
}

func isDone(p *pendingSubmission) bool { return p.done }
