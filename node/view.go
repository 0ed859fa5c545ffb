package node

import (
	"time"

	"skep/grid"
)

// JobView is a job as its origin knows it. Times are wall time in Unix nanoseconds, 0 = not yet.
type JobView struct {
	ID        grid.JobID
	Spec      *grid.JobSpec
	Class     string
	Submitted int64
	Done      int64 // when its last task ended
	Cancelled bool
	Pending   int // tasks that look for a node
	Placed    int // offered to or accepted by one
	Ended     int
	Failed    int   // of Ended, those that did not exit with 0
	Exit      int32 // highest exit code of the ended tasks
}

// TaskView is one task of it.
type TaskView struct {
	ID     grid.AttemptID
	State  grid.TaskState
	Worker grid.NodeID // zero = none yet
	Lost   int32       // attempts lost
	Result *grid.Result
	Placed int64
	Began  int64
	Done   int64
	Waits  grid.Refusal // why it is pending, if it is known
	Traces []grid.Trace // oldest first, bounded; shared with the node, read only
}

// PeerView is a node as this one sees it.
type PeerView struct {
	Ad        *grid.Ad
	Age       time.Duration // since its last news
	Hops      uint8         // that its last ad came
	RTT       time.Duration // 0 = not measured
	Connected bool
	Neighbour bool
	Self      bool
}

// Stats are counts since start, for metrics; rates and gauges are of now.
type Stats struct {
	Sent, Received [grid.Kinds]uint64
	Dropped        map[string]uint64 // by reason: bad messages, stale results, forged ads …
	Moved, Local   uint64            // tasks placed elsewhere, and here
	Lost           uint64            // attempts lost
	Queued         int               // attempts accepted here and not started
	Running        int
	Backlog        time.Duration
	Free           grid.Resources
	Jobs           int
	Pending        int     // tasks of own jobs that look for a node
	Peers          int     // in the view
	Lambda         float64 // of the last allocation solved; 0 = none. 1/Lambda is the load
	Solves         uint64
}
