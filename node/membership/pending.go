package membership

import (
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
	waiting  []*pendingSubmission // oldest first; the first is pending, later ones may be done
	unprobed []*pendingSubmission // newest of waiting, whose candidates were not probed since none was available
	done     int                  // number of done ones in waiting
}

// The queues: the number of one is the sum of what its jobs are.
const (
	anyNode   = 0  // jobs that any member may see
	ownerOnly = 1  // jobs that only their owner may see
	reruns    = 2  // jobs whose failed tasks are run again
	ordered   = 4  // jobs that wait for others
	gangs     = 8  // jobs whose tasks start together
	timed     = 16 // jobs with a deadline
	sized     = 32 // gangs of no fixed size
	queues    = 64
)

// memberFeatures are the features that the members of the jobs of a queue must have.
var memberFeatures = func() (all [queues]grid.FeatureSet) {
	of := [...]struct {
		queue   int
		feature grid.Feature
	}{{ownerOnly, grid.FeatureAccess}, {reruns, grid.FeatureReruns}, {ordered, grid.FeatureOrder},
		{gangs, grid.FeatureGangs}, {timed, grid.FeatureDeadlines}, {sized, grid.FeatureGangSizes}}
	for q := range all {
		for _, x := range of {
			if q&x.queue != 0 {
				all[q] |= 1 << x.feature
			}
		}
	}
	return all
}()

// queueOf returns the queue of a job.
func (s *Submissions) queueOf(spec *grid.JobSpec) *queue {
	return &s.queues[slices.Index(memberFeatures[:], spec.MemberFeatures())]
}

// pending lists the submissions of all queues.
func (s *Submissions) pending() (all []*pendingSubmission) {
	for k := range s.queues {
		all = append(all, s.queues[k].waiting...)
	}
	return all
}

// isPending reports whether any submission is.
func (s *Submissions) isPending() bool {
	return s.lists != nil && slices.ContainsFunc(s.queues[:], func(q queue) bool { return len(q.waiting) > 0 })
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
