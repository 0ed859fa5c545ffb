package view

import (
	"cmp"
	"slices"

	"skep/grid"
	"skep/node/checkpoint"
	"skep/node/progress"
)

// Job is a job as this node knows it. Times are wall time in Unix nanoseconds, 0 = not yet.
type Job struct {
	ID           grid.JobID
	Spec         *grid.JobSpec
	Class        string
	Submitted    int64
	Done         int64 // when its last task ended
	Cancelled    bool  // and the cancellation is committed
	Pending      int   // tasks that wait for placement
	Placed       int   // tasks offered to or accepted by a worker
	Running      int   // of Placed, those that have started, as far as their workers have said
	Ended        int
	Members      []grid.NodeID // of its register, the origin first; nil = this node alone
	Owner        grid.NodeID   // as far as known here; zero if this node alone keeps it
	Epoch        uint32        // of the owner
	Since        int64         // when that owner took it, as far as known here
	InputsAtRisk string        // where its inputs are, if fewer than a majority of Members have them
	BadEnds
	Exit    int32  // highest exit code of the ended tasks
	Stopped string // why it was cancelled, if by its own rule
	Retried int    // recorded failures after which the task was run again, or is to be
	Held    bool   // nothing of it is placed, since it waits for other jobs
}

// BadEnds counts the ended tasks of a job that did not end with 0.
type BadEnds struct {
	Failed       int // all of them
	Missed       int // of Failed, those that had not ended by the job's deadline
	Unaffordable int // of Failed, those that its budget did not suffice for
}

// Task is one task of a job.
type Task struct {
	ID                  grid.AttemptID
	State               grid.TaskState
	Worker              grid.NodeID // zero = none yet
	Lost                int32       // attempts lost
	Result              *grid.Result
	Placed, Began, Done int64
	Waits               grid.Refusal   // why it is pending, or why its end is not visible yet, if known
	Traces              []grid.Trace   // oldest first, bounded
	Backup              grid.NodeID    // worker of the backup attempt; zero = none
	Runs                bool           // it is placed and has started, as far as its worker has said
	Said                *grid.Progress // what it says of its progress while it runs; nil = nothing

	Failures   []grid.Failure // ends after which it was run again, or is to be: oldest first, the newest grid.MaxFailures
	LastFailed *grid.Result   // of the newest of them; nil if the task has ended
	Again      int64          // its next attempt is not made before; 0 = it has none, or one was made since
	Standing   progress.Standing
	Checkpoint checkpoint.View // of a gang, of its first rank
	Ranks      uint32          // of a gang: of the attempt; 0 = there is none yet
	Option     uint8           // of the job, that it runs or ran as, from 1; 0 = it has none, or that is not known
}

// Gauges are how many jobs and tasks are in which state now.
type Gauges struct {
	Open             int // jobs in memory, finished ones that are not packed among them
	Packed           int // finished jobs, packed
	Archived         int // tasks of finished jobs
	Live             int // tasks that are being placed or have an attempt
	InFlight         int // of Live, those that are polled for or offered
	Waiting          int // of Live, those that wait for a timer or for another node
	Retrying         int // of Live, those to be placed again
	AwaitingMajority int // jobs of which something waits for a majority of the register
	InGrace          int // jobs in their takeover grace
	Barriers         int // cancelled jobs of which something may still start
}

// Sort orders jobs by their submission.
func Sort(jobs []Job) {
	slices.SortFunc(jobs, func(a, b Job) int {
		return cmp.Or(cmp.Compare(a.Submitted, b.Submitted), a.ID.Compare(b.ID))
	})
}
