package grid

import "time"

// Expectation is when an attempt is expected to be done, and what its worker's track record needs to know of it.
type Expectation struct {
	Made     Time    // when the worker was chosen; 0 = before this start, or by another owner
	Expected float64 // completion, seconds after Made; 0 = the attempt's time measures nothing
	LateAt   Time    // late from then on; 0 = it is in no record
	SentAt   Time    // when it was sent, as known since this start
	Results  uint64  // successful results that the owner had counted at that time
}

// MaxReclaims bounds how often a task's reclaims double the time that its next worker is given.
const MaxReclaims = 12

// RunEstimate is what the owner of a task knows of how long it may take.
type RunEstimate struct {
	RunTime   float64       // expected run time of the class, seconds; more than 0
	Variation float64       // squared coefficient of variation of its run times
	Known     bool          // RunTime rests on results that the owner received
	Fetch     float64       // time to fetch the inputs, seconds
	Limit     time.Duration // time limit of the task; 0 = none
	Reclaims  uint8         // times that the task was reclaimed, at most MaxReclaims
}

// Waiting is work of a job that waits, as far as an idle node may get some of it.
type Waiting struct {
	Job     JobID
	Owner   NodeID
	Spec    *JobSpec
	Class   string
	Level   string  // of the class: see LevelOf
	End     float64 // seconds until the last of it is expected to be done where it waits; unknown of what has no place yet
	Overdue bool    // some of it has waited for half as long again as was predicted, or has no place
}
