package v1

import "time"

// Standing is what the node of a task has said of where it stands there.
type Standing struct {
	Option      *int         `json:"option,omitempty" doc:"Which option of the job it runs as, or ran, from 0; none: the job has none, or it is not known yet."`
	Line        *Line        `json:"line,omitempty" doc:"Of one that is queued."`
	Suspensions *Suspensions `json:"suspensions,omitempty" doc:"Of one that has started; none: it never was suspended, or its node is of a version that does not say."`
}

// Line is where a task stands among those that wait at its node, as that node has said.
type Line struct {
	Order  string    `json:"order" doc:"By which the node starts what waits there: fair, bid, fifo, sjf or prio_fifo."`
	Before *uint32   `json:"before,omitempty" doc:"How many are expected to start before it, by what waits there then."`
	More   uint32    `json:"before_at_least,omitempty" doc:"Instead of before, where it is further behind, or its inputs are still to come."`
	Told   time.Time `json:"told_at"`
}

// Suspensions are how a task that has started was suspended for tasks that bid more, as its node has said.
type Suspensions struct {
	Times    uint32    `json:"times"`
	Stood    float64   `json:"suspended_seconds" doc:"In all, until told_at."`
	Job      string    `json:"job" doc:"The job for whose task it is, or was last."`
	Priority float64   `json:"priority" doc:"Bid of that job."`
	Told     time.Time `json:"told_at"`
}

// TooLate is since when the deadline of its job cannot be met by a task.
type TooLate struct {
	Since time.Time `json:"since"`
	Why   string    `json:"why"`
}
