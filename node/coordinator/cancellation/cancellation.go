package cancellation

import (
	"fmt"

	"skep/grid"
	"skep/node/dependency"
)

// Job is a job as it is known here.
type Job struct {
	Spec      *grid.JobSpec
	Register  Register
	Tasks     Tasks
	Cancelled bool
}

// Register is the job's register.
type Register = dependency.Ends

// Tasks are the tasks of a job.
type Tasks interface {
	IsOver(i uint32) bool // its end is committed
	OverFailed() int32    // those whose ends are committed, and bad
	FailedBut(skipped func(i uint32) bool) int32
}

// ByCaller is how tasks end that a caller has cancelled. It is shared: nobody changes a result.
var ByCaller = &grid.Result{Cause: grid.Cancelled, Exit: 130, Error: "cancelled"}

// Because is how tasks end that are cancelled for a reason.
func Because(why string) *grid.Result {
	return &grid.Result{Cause: grid.Cancelled, Exit: ByCaller.Exit, Error: grid.Clean("cancelled: "+why, grid.MaxText)}
}

// Limit is how the tasks end of a job that is cancelled since a limit of it was reached; nil = it is not.
func (j Job) Limit() *grid.Result {
	if !j.Spec.Rules.Deadline.Some() && !j.Spec.Rules.Budget.Some() {
		return nil
	}
	if v, _ := j.Register.Value(j.Spec.Count); j.Cancelled && v != nil && !v.Open() {
		return v.Result
	}
	return nil
}

// Result is how the tasks of a cancelled job end that have not ended before.
func (j Job) Result() *grid.Result {
	if r := j.Limit(); r != nil {
		return r
	}
	if why := j.Stopped(); why != "" {
		return Because(why)
	}
	return ByCaller
}

// Stopped says that a job was cancelled for a limit, since too many of its tasks had failed, or since a job that it
// waited for had not ended as it should; "" = it was not.
func (j Job) Stopped() string {
	if r := j.Limit(); r != nil {
		return r.Error
	}
	if !j.Cancelled {
		return ""
	}
	if why := dependency.Vain(j.Spec, j.Register); why != "" {
		return why
	}
	most := j.Spec.Rules.MaxFailures
	if most == 0 {
		return ""
	}
	failed := j.Tasks.OverFailed()
	if failed < most {
		return ""
	}
	return fmt.Sprintf("%d of its tasks failed, and max_failures is %d", failed, most)
}

// IsDue reports whether a job is to be cancelled by its rules, of which so many tasks count as failed.
func (j Job) IsDue(failed int32) bool {
	most := j.Spec.Rules.MaxFailures
	return !j.Cancelled && (most > 0 && failed >= most || dependency.Vain(j.Spec, j.Register) != "")
}

// Entry makes the register's entry of the job's cancellation, which may follow a retry.
func (j Job) Entry(at int64, end *grid.Result) *grid.Entry {
	e := &grid.Entry{Index: j.Spec.Count, Done: at, Result: end}
	if v, _ := j.Register.Value(j.Spec.Count); v != nil {
		e.Round, e.RetriedAt, e.RetryEpoch = v.Round+1, v.RetriedAt, v.RetryEpoch
	}
	return e
}
