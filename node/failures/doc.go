// Package failures decides what a recorded failure of a task means for its job: whether the task is run again, and when
// ([Again]); and which entries can be ([Possible]).
//
// It holds no state. What was decided is in the entry of the job's register that records the failure, so that a new
// owner goes on with it.
package failures
