package v1

import (
	"time"

	"skep/grid"
)

// DefaultBackoff is the wait after a first failure.
const DefaultBackoff = time.Second

// Rules say what a job does about tasks that fail, how many of its tasks run at a time, and what is bid for them.
type Rules struct {
	MaxFailures int32 `json:"max_failures,omitempty" doc:"Failed tasks after which the rest is cancelled; any number may fail if left out."`
	MaxRunning  int32 `json:"max_running,omitempty" doc:"Tasks that may have a node at a time; any number if left out."`

	Priority *float64 `json:"priority,omitempty" doc:"Bid for each second of the reference machine, up to the node's max_bid: where work waits the highest goes first; 1 if left out."`

	Deadline *Deadline `json:"deadline,omitempty" doc:"Until when results are wanted; for ever if left out. Refused where it cannot be met."`

	Budget *Budget `json:"budget,omitempty" doc:"What its attempts may use together; any amount if left out. Refused where it cannot suffice."`

	Rank string `json:"rank,omitempty" doc:"Expression about nodes, as in node.speed: of those where a task would start at once, the one with the greatest value gets it."`

	Reliability string `json:"reliability,omitempty" enum:"retries,auto,value,value_per_cost,value_per_time,replicate" doc:"Whether copies of idempotent tasks run on idle nodes beforehand, for attempts that may be lost: where a copy saves more than it takes (auto), by a utility, or always (replicate); retries alone if left out."`

	OnFailure *OnFailure `json:"on_failure,omitempty" doc:"What becomes of tasks that fail; they are not run again if left out."`
}

// OnFailure says after which recorded ends a task is run again.
type OnFailure struct {
	Retry   int32    `json:"retry" doc:"Further attempts after failed ones."`
	Codes   []int32  `json:"codes,omitempty" doc:"Exit codes after which it is run again; each but the time limit's if left out."`
	Backoff *float64 `json:"backoff_seconds,omitempty" doc:"Before the first of them; doubled for each that follows, up to an hour, and up to a quarter more; 1 if left out."`
	Rerun   bool     `json:"rerun,omitempty" doc:"With retries 0: run it again after an end that is recorded, and never after a lost attempt."`
}

// JobFailures are the failures of a job's tasks.
type JobFailures struct {
	Failed       int `json:"failed" doc:"Of ended, those that did not exit with 0."`
	Missed       int `json:"missed,omitempty" doc:"Of failed, those that had not ended by the deadline; where one job was asked for."`
	Unaffordable int `json:"unaffordable,omitempty" doc:"Of failed, those that the budget did not suffice for; where one job was asked for."`

	Stopped string `json:"stopped,omitempty" doc:"Why it was cancelled, if by a rule of its own: max_failures, deadline, budget, or a job that it follows."`
	Retried int    `json:"failures_retried,omitempty" doc:"Failures of tasks after which these were run again, or are to be."`
}

// Failure is an end of a task after which it was run again, or is to be.
type Failure struct {
	Attempt string     `json:"attempt" doc:"EPOCH.N"`
	Node    string     `json:"node,omitempty"`
	Name    string     `json:"node_name,omitempty"`
	Cause   string     `json:"cause"`
	Exit    int32      `json:"exit_code"`
	Line    string     `json:"last_line,omitempty" doc:"The last line of its standard error, else of its standard output, or why it ended."`
	Done    *time.Time `json:"done_at,omitempty"`
}

func (o *OnFailure) rule() (r grid.OnFailure) {
	if o == nil {
		return r
	}
	r = grid.OnFailure{Retry: o.Retry, Codes: o.Codes, Rerun: o.Rerun}
	if o.Backoff != nil {
		r.Backoff = seconds(*o.Backoff)
	} else if o.Retry > 0 {
		r.Backoff = DefaultBackoff
	}
	return r
}

func onFailureOf(r *grid.OnFailure) *OnFailure {
	if r.Retry == 0 && !r.Rerun {
		return nil
	}
	backoff := r.Backoff.Seconds()
	return &OnFailure{Retry: r.Retry, Codes: r.Codes, Backoff: &backoff, Rerun: r.Rerun}
}

// bid returns the bid of a priority; one that is none is refused by JobSpec.Check.
func (r *Rules) bid() grid.Bid {
	if r.Priority == nil {
		return 0
	}
	if b, ok := grid.BidOf(*r.Priority); ok {
		return b
	}
	return -1
}

// priorityOf returns the priority of a job that says one.
func priorityOf(g *grid.JobSpec) *float64 {
	if g.Rules.Bid == 0 {
		return nil
	}
	x := g.Rules.Bid.Number()
	return &x
}
