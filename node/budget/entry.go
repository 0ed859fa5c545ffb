package budget

import (
	"fmt"
	"time"

	"skep/grid"
)

// writtenShare is the share of the budget, as its inverse, by which a job's use grows before it is written to the
// register. Higher writes more often; lower has a takeover forget more.
const writtenShare = 16

// entry returns the register's entry of what was used, which follows last (nil = none was written), if that much was
// used since, or the last one says so much too much, since attempts ended before that was known; else nil. See Written.
func (a *Account) entry(now grid.Time, last *grid.Entry, wall int64, least time.Duration) *grid.Entry {
	used := min(a.Used(now), grid.MaxBudget.Time())
	if a.written > 0 { // else the entry would be none
		used = max(used, 1)
	}
	if max(used-a.written, a.written-used) < max(least, 1) {
		return nil
	}
	// an open entry has a result
	e := &grid.Entry{Index: a.job.Spec.UsedEntry(), Used: used, Done: wall, Again: 1,
		Result: &grid.Result{Cause: grid.Unaffordable, Exit: grid.ExitUnaffordable}}
	if last != nil {
		if e.Round = last.Round + 1; e.Round >= grid.MaxRounds {
			return nil
		}
	}
	return e
}

// End is how tasks end that had not ended when the budget was exhausted.
func (a *Account) End(now grid.Time) *grid.Result {
	text := fmt.Sprintf("unaffordable: it had not ended when its job had used %v of its budget, %v node-seconds",
		rounded(a.Used(now)), seconds(a.budget))
	if a.Used(now) < a.budget {
		text += ", and the rest was not expected to suffice for a further attempt"
	}
	return &grid.Result{Cause: grid.Unaffordable, Exit: grid.ExitUnaffordable, Error: text}
}

// Impossible says that a budget cannot suffice for the tasks of a job, or the ranks of a gang, which take so many
// seconds each on the fastest node that is known; "" = it can, or nothing is known.
func Impossible(spec *grid.JobSpec, class string, fastest float64) string {
	b, tasks := spec.Rules.Budget, float64(spec.Count)
	if !b.Some() || spec.Gang.Sized() || !(fastest > 0) || tasks*fastest <= float64(b) {
		return ""
	}
	what := "its task is"
	if spec.Count > 1 {
		what = fmt.Sprintf("its %d tasks are", spec.Count)
	}
	return fmt.Sprintf("budget.node_seconds %d: cannot suffice: %s expected to take %.0f node-seconds on the fastest "+
		"node that fits, by what tasks of class %.64s have taken: want a larger budget, fewer tasks, or a class of their "+
		"own for tasks that take less", b, what, tasks*fastest, class)
}

// waits says why a task waits that the rest of the budget is not expected to pay.
func (a *Account) waits(now grid.Time, expected time.Duration) string {
	return fmt.Sprintf("%v of %v node-seconds are used, and %v more are kept for what runs; it is expected to take %v",
		seconds(a.Used(now)), seconds(a.budget), seconds(max(a.budget-a.Used(now)-a.left(now), 0)), rounded(expected))
}

func seconds(d time.Duration) int64 { return int64(d.Round(time.Second) / time.Second) }

func rounded(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }
