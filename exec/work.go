package exec

import (
	"time"

	"skep/grid"
)

// Work is an attempt that this node has accepted and whose origin has not yet let go of it.
type Work struct {
	ID       grid.AttemptID
	Spec     *grid.JobSpec
	Class    string
	Lease    time.Duration
	State    grid.WorkState
	Result   *grid.Result // of WorkFinished
	Accepted grid.Time
	Expected time.Duration // until its start, as it was expected then
	Started  grid.Time     // of WorkRunning
	Due      grid.Time     // of WorkFinished: when the result is told again
	Tries    int           // of WorkFinished: how often it was told

	ready  bool // program and inputs are here
	passed int  // how often smaller work went before it
	class  *class
}

// Origin is the node that the attempt belongs to.
func (w *Work) Origin() grid.NodeID { return w.ID.Task.Job.Origin }

// class counts the waiting work of one class, so that the backlog is a sum over classes and not over tasks.
type class struct {
	name   string
	queued int64   // MilliCPU of waiting work
	age    float64 // mean age of what runs, seconds, at the last look
	runs   int     // how many run, at the last look
}

// Mean gives the expected run time of a task of a class here, in seconds.
type Mean func(class string) float64

// shared is the one copy of a job's description that all its attempts here point to: each offer brings one of
// its own, which for a long queue would be most of the node's memory.
type shared struct {
	spec *grid.JobSpec
	uses int
}

// share returns the copy of the job's description that is kept.
func (e *Exec) share(job grid.JobID, spec *grid.JobSpec) *grid.JobSpec {
	s := e.specs[job]
	if s == nil {
		if s = e.lent; s == nil {
			s = new(shared)
		}
		e.lent = nil
		s.spec = spec
		e.specs[job] = s
	}
	s.uses++
	return s.spec
}

// unshare lets go of one use of it.
func (e *Exec) unshare(job grid.JobID) {
	if s := e.specs[job]; s.uses > 1 {
		s.uses--
	} else {
		delete(e.specs, job)
		*s = shared{}
		e.lent = s
	}
}
