package cancellation

import (
	"fmt"

	"skep/internal/indices"
	"skep/node/dependency"
	"skep/node/failures"
)

// Lacks says why tasks that a caller names cannot be cancelled one by one; "" = they can.
func (j Job) Lacks(tasks indices.Set) string {
	if j.Spec.IsGang() {
		return "its tasks are the ranks of a gang, which end together: cancel the job"
	}
	return j.beyond(tasks)
}

// beyond names a task that the job does not have; "" = it has all.
func (j Job) beyond(tasks indices.Set) string {
	for _, r := range tasks {
		if r.Last >= j.Spec.Count {
			return fmt.Sprintf("task %d: want an index of 0 to %d", r.Last, j.Spec.Count-1)
		}
	}
	return ""
}

// RefusesRetry says why tasks that a caller names may not be run again, as far as the job and its register tell; "" =
// they may. A job that is being cancelled is not over: some of its tasks go on, or its end is not known to all.
func (j Job) RefusesRetry(tasks indices.Set, beingCancelled bool) string {
	if why := j.beyond(tasks); why != "" {
		return why
	}
	for k := range tasks.Len() {
		i := tasks.At(k)
		if !j.Tasks.IsOver(i) {
			return fmt.Sprintf("task %d has not ended: want tasks that have, or cancel it first", i)
		}
		if why := dependency.VainOf(j.Spec, j.Register, i); why != "" {
			return fmt.Sprintf("task %d can never run: %s, and that is what it was to wait for: submit it again", i, why)
		}
		if v, _ := j.Register.Value(i); v != nil && failures.Exhausted(j.Spec, v) {
			return fmt.Sprintf("task %d has been run again %d times: no more are recorded, submit it as a new job", i, v.Round)
		}
	}
	if beingCancelled {
		return "is being cancelled: ask again when it is over"
	}
	if most := j.Spec.Rules.MaxFailures; most > 0 {
		if left := j.Tasks.FailedBut(tasks.Contains); left >= most {
			return fmt.Sprintf("%d of its other tasks failed, and max_failures is %d: have these run again too", left, most)
		}
	}
	return ""
}
