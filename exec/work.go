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
	Until    grid.Time     // of WorkQueued, of others: what was heard from its owner lets it start before that
	Due      grid.Time     // of WorkFinished: when the result is told again, if it is (Tell)
	Tries    int           // of WorkFinished: how often it was told

	lost   float64   // what tasks had lost to others when it started
	turn   int64     // of WorkQueued: its place in the queue, with room between any two; of WorkFinished: how many had ended then
	place  int       // of WorkFinished: among those whose results are told again, counted from 1; 0 = it is not
	asleep bool      // the gate did not let it start, and it waits for Wake
	ready  bool      // program and inputs are here
	cut    bool      // told to end while it runs
	passed int       // how often smaller or older work went before it
	since  grid.Time // when its task was submitted, as its origin says
	class  *class
	shared *shared // whose Spec it is
	before *Work   // of the same job
	after  *Work
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

// Law gives of the run times of a class here the mean, in seconds, and the squared coefficient of variation,
// from 0, all take equally long, to 1, as where they are exponential or vary even more.
type Law func(class string) (mean, scv float64)
