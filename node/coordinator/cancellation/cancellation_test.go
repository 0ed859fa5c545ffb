package cancellation

import (
	"strings"
	"testing"

	"skep/grid"
	"skep/internal/indices"
)

// register has the entries of a job.
type register map[uint32]*grid.Entry

func (r register) Value(i uint32) (*grid.Entry, bool) { return r[i], r[i] != nil }

// ends are how tasks have ended: true is badly. Those that are not there go on.
type ends map[uint32]bool

func (e ends) IsOver(i uint32) bool { _, over := e[i]; return over }
func (e ends) OverFailed() int32    { return e.FailedBut(func(uint32) bool { return false }) }

func (e ends) FailedBut(skipped func(uint32) bool) (n int32) {
	for i, bad := range e {
		if bad && !skipped(i) {
			n++
		}
	}
	return n
}

const count = 4

func job(change func(*Job)) Job {
	j := Job{Spec: &grid.JobSpec{Count: count}, Register: register{}, Tasks: ends{}, Cancelled: true}
	change(&j)
	return j
}

// A job that is cancelled says why, and its tasks end with that: for a limit by what the register holds, by a rule, by
// what it waited for, else by a caller. One that is not cancelled says nothing.
func TestHowTasksOfACancelledJobEnd(t *testing.T) {
	missed := &grid.Result{Cause: grid.Missed, Exit: 9, Error: "missed"}
	bad := &grid.Result{Cause: grid.Exited, Exit: 1, Error: "the other one failed"}
	fails := func(j *Job) { j.Spec.Rules.MaxFailures, j.Tasks = 2, ends{0: true, 1: false, 2: true} }
	limit := func(j *Job) {
		j.Spec.Rules.Deadline.At = 1e9
		j.Register = register{count: {Index: count, Result: missed}}
	}
	after := func(j *Job) {
		j.Spec.After.Jobs = []grid.Dependency{{Kind: grid.AfterOK}}
		j.Register = register{j.Spec.DependencyEntry(0): {Result: bad}}
	}
	both := func(changes ...func(*Job)) func(*Job) {
		return func(j *Job) {
			for _, f := range changes {
				f(j)
			}
		}
	}
	runs := func(j *Job) { j.Cancelled = false }
	for name, c := range map[string]struct {
		change  func(*Job)
		stopped string
		want    *grid.Result
	}{
		"by a caller":                {func(*Job) {}, "", ByCaller},
		"one failure less":           {both(fails, func(j *Job) { j.Spec.Rules.MaxFailures = 3 }), "", ByCaller},
		"too many failures":          {fails, "2 of its tasks failed, and max_failures is 2", nil},
		"as another job failed":      {after, "the other one failed", nil},
		"at its deadline":            {limit, "missed", missed},
		"at its deadline, and fails": {both(fails, limit), "missed", missed},
		"not, but many failed":       {both(fails, runs), "", ByCaller},
		"not, at its deadline":       {both(limit, runs), "", ByCaller},
	} {
		j := job(c.change)
		if got := j.Stopped(); got != c.stopped {
			t.Errorf("%s: %q, want %q", name, got, c.stopped)
		}
		want := c.want
		if want == nil {
			want = Because(c.stopped)
		}
		if got := j.Result(); got.Cause != want.Cause || got.Exit != want.Exit || got.Error != want.Error {
			t.Errorf("%s: tasks end with %+v, want %+v", name, got, want)
		}
	}
	if j := job(both(fails, runs)); j.IsDue(1) || !j.IsDue(2) || job(fails).IsDue(2) {
		t.Error("want that a job is to be cancelled by its second failure, once")
	}
	if j := job(both(after, runs)); !j.IsDue(0) {
		t.Error("want that a job is to be cancelled that waits in vain")
	}
}

// A cancellation follows what was recorded of an earlier one that a retry has withdrawn.
func TestACancellationFollowsARetry(t *testing.T) {
	j := job(func(*Job) {})
	if e := j.Entry(7, nil); e.Index != count || e.Done != 7 || e.Round != 0 {
		t.Errorf("the first one is %+v", e)
	}
	j.Register = register{count: {Index: count, Round: 1, RetriedAt: 1, RetryEpoch: 3}}
	if e := j.Entry(7, nil); e.Round != 2 || e.RetriedAt != 1 || e.RetryEpoch != 3 {
		t.Errorf("the second one is %+v: want round 2", e)
	}
}

func set(first, last uint32) indices.Set { return indices.Set{{First: first, Last: last, Step: 1}} }

// Each request that cannot be met says why, and names the task.
func TestWhatCallersMayAsk(t *testing.T) {
	gang := job(func(j *Job) { j.Spec.Gang.Ranks = count })
	if why := gang.Lacks(set(0, 0)); !strings.Contains(why, "cancel the job") {
		t.Errorf("a rank is cancelled: %q", why)
	}
	if why := job(func(*Job) {}).Lacks(set(2, count)); !strings.Contains(why, "task 4: want an index of 0 to 3") {
		t.Errorf("a task is cancelled that there is not: %q", why)
	}
	for name, c := range map[string]struct {
		tasks  indices.Set
		change func(*Job)
		being  bool
		want   string
	}{
		"all have ended":   {tasks: set(0, 3)},
		"one there is not": {tasks: set(3, 4), want: "task 4: want an index"},
		"one goes on": {tasks: set(0, 3), change: func(j *Job) { delete(j.Tasks.(ends), 2) },
			want: "task 2 has not ended"},
		"it is being cancelled": {tasks: set(0, 3), being: true, want: "is being cancelled"},
		"others failed": {tasks: set(0, 0), change: func(j *Job) { j.Spec.Rules.MaxFailures = 1 },
			want: "1 of its other tasks failed"},
		"those that failed": {tasks: set(0, 1), change: func(j *Job) { j.Spec.Rules.MaxFailures = 1 }},
		"one was run again too often": {tasks: set(0, 3), want: "task 3 has been run again", change: func(j *Job) {
			j.Register = register{3: {Index: 3, Round: 1 << 30, Result: &grid.Result{}}}
		}},
	} {
		j := job(func(j *Job) {
			if j.Tasks = (ends{0: true, 1: true, 2: false, 3: false}); c.change != nil {
				c.change(j)
			}
		})
		if got := j.RefusesRetry(c.tasks, c.being); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
