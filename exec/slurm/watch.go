package slurm

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"skep/exec/external"
	"skep/exec/process"
)

// silent tells the operator that Slurm does not answer any more, or again.
func (e *Engine) silent(err error) {
	if err != nil {
		e.o.Log.Warn("Slurm does not answer: its jobs go on, and the node waits", "error", err)
		return
	}
	e.o.Log.Info("Slurm answers again")
}

// look looks at all jobs once, and reports whether there are tasks, and whether something has changed.
func (e *Engine) look() (some, changed bool, err error) {
	tasks := e.Tasks()
	if len(tasks) == 0 {
		return false, false, nil
	}
	began := time.Now()
	l, err := list(e.ctx, e.prefix)
	var cancel []string
	for _, t := range tasks {
		if err != nil {
			changed = t.lookAtFolder() || changed
			continue
		}
		over, ids := t.look(began, l[t.Name()])
		changed, cancel = changed || over, append(cancel, ids...)
	}
	if err != nil {
		return true, changed, err
	}
	cancel = append(cancel, e.unknown(l)...)
	if len(cancel) > 0 {
		changed = true
		if err := cancelJobs(e.ctx, cancel); err != nil {
			e.o.Log.Warn("jobs were not cancelled, which is tried again", "jobs", len(cancel), "error", err)
		}
	}
	return len(e.Tasks()) > 0, changed, nil
}

// unknown returns the jobs of this node of which no task is known: their orders are claimed or not there, so they run
// nothing, or their task has ended. There are none where an order cannot be read: one may be its job.
func (e *Engine) unknown(l listing) (ids []string) {
	if e.HasUnread() {
		return nil
	}
	for name, jobs := range l {
		if e.Has(name) {
			continue
		}
		for i := range jobs {
			if j := &jobs[i]; !j.over() && j.state != "COMPLETING" {
				ids = append(ids, j.id)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// lookAtFolder ends the task if its end is there, while the controller does not answer.
func (t *Task) lookAtFolder() bool {
	x, err := t.readEnd()
	if err != nil || x.Cause == process.Cancelled { // the controller knows why
		return false
	}
	t.Finish(x.result(t.order.MaxOutput))
	return true
}

func (t *Task) readEnd() (x end, err error) {
	return x, external.ReadRecord(filepath.Join(t.order.Dir, endFile), &x)
}

// look follows the jobs that have the name of a task: one, or none. It reports whether something has changed, and which
// jobs are to be cancelled.
func (t *Task) look(began time.Time, jobs []job) (changed bool, cancel []string) {
	var last *job
	for i := range jobs {
		if j := &jobs[i]; last == nil || !j.over() {
			last = j
		}
	}
	for i := range jobs {
		if !jobs[i].over() {
			cancel = append(cancel, jobs[i].id)
		}
	}
	if c := t.Asked(); c == 0 {
		cancel = nil
	} else if never, err := t.fence(); err == nil && never {
		t.Finish(process.Result{Cause: c})
		return true, cancel
	}
	if last != nil && !last.over() && last.state != "COMPLETING" {
		t.gone = time.Time{}
		return t.follow(last), cancel
	}
	if last == nil && !t.submittedBefore(began) {
		return false, nil
	}
	return t.collect(last), cancel
}

// follow says how a job stands.
func (t *Task) follow(j *job) bool {
	if j.waits() {
		return t.Say(external.Saying{Text: fmt.Sprintf("waits in Slurm as job %s: %s", j.id, j.reason)})
	}
	return t.Say(external.Saying{Text: fmt.Sprintf("job %s of Slurm: %s", j.id, strings.ToLower(j.state))})
}

// fence has the order never run, unless a step has claimed it.
func (t *Task) fence() (never bool, err error) {
	if t.claimed {
		return false, nil
	}
	never, err = fence(t.order.Dir, t.order.Key, t.order.Submission)
	if err != nil {
		t.e.o.Log.Debug("claim", "job", t.Name(), "error", err)
		return false, err
	}
	t.claimed = !never
	return never, nil
}

// collect ends a task whose job is over, or not there (nil). It reports whether it has.
func (t *Task) collect(j *job) bool {
	x, err := t.readEnd()
	if err == nil {
		r := t.judge(&x, j)
		if j != nil && j.state == "COMPLETING" && r.Code() != 0 && !t.settled() {
			return false // whether Slurm has ended it, its last state says
		}
		t.Finish(r)
		return true
	}
	if j != nil && !j.over() {
		return false
	}
	never, ferr := t.fence()
	switch {
	case ferr == nil && never && j == nil:
		t.FinishNever("Slurm has no job of it")
		return true
	case ferr == nil && never:
		t.Finish(process.Result{Cause: process.CannotExecute, Error: "Slurm ended its job before it began: " + j.state})
		return true
	case errors.Is(ferr, fs.ErrNotExist) && t.gone.IsZero():
		t.e.o.Log.Warn("the folder of a Slurm job is not there", "folder", t.order.Dir)
	}
	if !t.settled() {
		return false
	}
	t.Finish(t.judge(nil, j))
	return true
}

// settled reports whether the job has been over, or about to be, for as long as a part of its end is waited for.
func (t *Task) settled() bool {
	if t.gone.IsZero() {
		t.gone = time.Now()
	}
	return time.Since(t.gone) >= t.e.o.Settle
}

// judge makes the result of a task whose step has ended (nil: without a word) and whose job has (nil: it is forgotten).
func (t *Task) judge(x *end, j *job) process.Result {
	state := "it has forgotten the job"
	if j != nil {
		state = j.state
	}
	r := process.Result{Cause: process.Broken}
	if x != nil {
		r = x.result(t.order.MaxOutput)
	}
	switch {
	case x != nil && !x.Stopped && r.Code() == 0, x != nil && r.Cause == process.TimedOut:
		return r
	case state == "TIMEOUT":
		r.Cause, r.Error = process.TimedOut, "Slurm ended its job: TIMEOUT, as the partition has it"
	case state == "OUT_OF_MEMORY":
		r.Cause, r.Error = process.MemoryExceeded, "Slurm ended its job: OUT_OF_MEMORY"
	case x == nil || x.Stopped || state == "CANCELLED" || state == "PREEMPTED" || state == "NODE_FAIL" ||
		state == "DEADLINE":
		r.Cause, r.Error = process.Broken, "Slurm ended its job: "+state
		if said := t.printed(); x == nil && said != "" {
			r.Error += ": " + said
		}
	}
	return r
}
