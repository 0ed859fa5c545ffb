package node

import (
	"slices"
	"strings"
	"testing"
	"time"

	"skep/grid"
	"skep/internal/indices"
)

// ask has a caller cancel or retry tasks of a job, all if none are named, and returns the answer.
func (r *rig) ask(kind grid.EventKind, id grid.JobID, tasks ...uint32) string {
	r.t.Helper()
	r.now = r.now.Add(time.Second)
	r.step(grid.Event{Kind: kind, Caller: 9, Job: id, Tasks: indices.Of(tasks)})
	for _, x := range r.fx.Replies {
		if x.Caller == 9 {
			return x.Err
		}
	}
	r.t.Fatalf("job %v: the caller is not answered", id.Short())
	return ""
}

// A held task that is cancelled ends as cancelled; the others stay held, and start when they are released.
func TestCancelOfHeldTasks(t *testing.T) {
	for _, kind := range []grid.AfterKind{grid.AfterOK, grid.AfterEach} {
		r := alone(t)
		r.submit(jobID(1), with(count(3)))
		r.submit(jobID(2), with(count(3), after(kind, jobID(1))))
		if why := r.ask(grid.EvCancel, jobID(2), 1); why != "" {
			t.Fatalf("%v: %s", kind, why)
		}
		v, _ := r.n.Task(grid.TaskID{Job: jobID(2), Index: 1})
		if v.State != grid.Ended || v.Result.Cause != grid.Cancelled {
			t.Errorf("%v: the cancelled task: %v, %+v", kind, v.State, v.Result)
		}
		if j, _ := r.n.Job(jobID(2)); j.Cancelled || j.Ended != 1 || j.Pending != 2 || kind == grid.AfterOK && !j.Held {
			t.Errorf("%v: the job: %+v; want one ended, two pending, and the job held", kind, j)
		}
		for i := range uint32(3) {
			r.end(jobID(1), i, exitZero)
		}
		if got := r.running(jobID(2)); !slices.Equal(got, []uint32{0, 2}) {
			t.Errorf("%v: tasks %v run when they are released, want 0 and 2", kind, got)
		}
	}
}

// A job that was cancelled while it was held, or all its tasks were, is held again after a retry, also over a restart,
// and released once what it waits for has ended.
func TestRetryOfAHeldJob(t *testing.T) {
	for _, kind := range []grid.AfterKind{grid.AfterOK, grid.AfterEach} {
		for n := range 4 {
			restart, byIndex := n&1 > 0, n&2 > 0
			r := alone(t)
			r.submit(jobID(1), with(count(2)))
			r.submit(jobID(2), with(count(2), after(kind, jobID(1))))
			var tasks []uint32
			if byIndex {
				tasks = []uint32{0, 1}
			}
			if why := r.ask(grid.EvCancel, jobID(2), tasks...); why != "" {
				t.Fatal(why)
			}
			if v, _ := r.n.Job(jobID(2)); v.Ended != 2 || v.Cancelled == byIndex {
				t.Fatalf("%v, by index %v: %+v; want it cancelled", kind, byIndex, v)
			}
			r.pass(5 * time.Second) // nobody asks for what a job waits for that is over
			if why := r.ask(grid.EvRetry, jobID(2), 0, 1); why != "" {
				t.Fatal(why)
			}
			if v, _ := r.n.Job(jobID(2)); v.Cancelled || !v.Held || len(r.running(jobID(2))) > 0 {
				t.Fatalf("%v: after the retry %+v, tasks %v run; want it held", kind, v, r.running(jobID(2)))
			}
			if restart {
				r = r.restart()
				for end := r.now.Add(time.Minute); len(r.running(jobID(1))) < 2 && r.now < end; {
					r.pass(time.Second)
				}
			}
			r.end(jobID(1), 0, exitZero)
			r.end(jobID(1), 1, exitZero)
			if got := r.running(jobID(2)); !slices.Equal(got, []uint32{0, 1}) {
				t.Errorf("%v, by index %v, restart %v: tasks %v run when they are released, want both", kind, byIndex, restart, got)
			}
		}
	}
}

// A retry of a job makes it one that has not ended, for those that ask from then on. What an earlier end has released
// or stopped keeps that end: it cannot be retried.
func TestRetryOfAnAwaitedJob(t *testing.T) {
	r := alone(t)
	r.submit(jobID(1), with())
	r.submit(jobID(2), with(after(grid.AfterOK, jobID(1))))
	r.submit(jobID(3), with(after(grid.AfterAny, jobID(1))))
	r.end(jobID(1), 0, exitOne)
	if why := r.ask(grid.EvRetry, jobID(1), 0); why != "" {
		t.Fatal(why)
	}
	if got := r.running(jobID(3)); len(got) != 1 {
		t.Error("what the first end has released does not run any more")
	}
	r.submit(jobID(4), with(after(grid.AfterOK, jobID(1))))
	if v, _ := r.n.Job(jobID(4)); !v.Held {
		t.Errorf("submitted after the retry: %+v; want it held", v)
	}
	r.end(jobID(1), 0, exitZero)
	if got := r.running(jobID(4)); len(got) != 1 {
		t.Error("the second end does not release what was submitted after the retry")
	}
	why := r.ask(grid.EvRetry, jobID(2), 0)
	if want := "task 0 can never run: job " + jobID(1).Short(); !strings.Contains(why, want) {
		t.Errorf("a retry of what the first end has stopped: %q; want %q", why, want)
	}
	if v, _ := r.n.Job(jobID(2)); !v.Cancelled || v.Stopped == "" {
		t.Errorf("after that: %+v; want it cancelled with the reason as before", v)
	}
}
