package sim

import (
	"fmt"
	"slices"

	"skep/grid"
)

// job is a submission, and the fields of its record on the origin's disk that the submission does not have.
type job struct {
	submitted      int64
	reported       reportedJob // by nodes that were up to date
	origin         int32
	class          int32 // index into oracle.classes
	first          int32 // index of its first task
	nextOfOrigin   int32 // next in the chain of its origin, from 1
	count          int32
	register       int32 // index into oracle.registers, from 1; 0 = it has none
	submitTried    bool
	confirmed      bool // its node acknowledged the submission
	rejected       bool
	saved          bool // its record is on its origin's disk
	cancelled      bool
	cancelAnswered bool // its cancellation was acknowledged
}

// task is the durable state of a task, and its runs. Its record on the origin's disk is all here.
type task struct {
	job        int32
	runs       int32 // chain
	starts     int32 // without refused ones
	worker     int32 // of its record; −1 = none
	acceptedBy int32 // node that accepted an attempt last; −1 = none
	workChain  int32 // chain of its attempts' records on workers' disks, from 1
	lost       int32
	state      grid.TaskState
	saved      bool         // its record is on its origin's disk
	last       grid.Attempt // attempt of its record
	accepted   grid.Attempt // attempt that acceptedBy accepted
	ended      grid.Time
	placed     int64
	began      int64
	done       int64
	result     grid.Brief
}

// taskAttempt is an attempt of a task.
type taskAttempt struct {
	task    int32
	attempt grid.Attempt
}

// initTables makes the oracle's tables for the workload.
func (w *World) initTables() {
	w.jobs = make([]job, len(w.cfg.Work))
	n := 0
	for i, s := range w.cfg.Work {
		w.jobs[i] = job{class: w.class(grid.ClassOf(s.Spec)), origin: int32(s.Node), first: int32(n), count: int32(s.Spec.Count)}
		n += int(s.Spec.Count)
	}
	for i := len(w.jobs) - 1; i >= 0; i-- {
		d := &w.hosts[w.jobs[i].origin].disk
		w.jobs[i].nextOfOrigin, d.jobs = d.jobs, int32(i)+1
	}
	w.tasks = make([]task, n)
	for i := range w.jobs {
		for k := range w.jobs[i].count {
			w.tasks[w.jobs[i].first+k] = task{job: int32(i), runs: -1, worker: -1, acceptedBy: -1}
		}
	}
}

// members returns the members of a submission's register; nil = it has none.
func (w *World) members(j *job) []grid.NodeID {
	if j.register == 0 {
		return nil
	}
	return w.registers[j.register-1]
}

// class returns the index of a class of the workload; linear, as there are few.
func (w *World) class(name string) int32 {
	i := slices.Index(w.classes, name)
	if i < 0 {
		i = len(w.classes)
		w.classes = append(w.classes, name)
	}
	return int32(i)
}

func (w *World) classOf(t *task) string { return w.classes[w.jobs[t.job].class] }

// JobID returns the identity of a submission.
func (w *World) JobID(submission int) grid.JobID { return w.jobID(int32(submission)) }

func (w *World) jobID(n int32) grid.JobID {
	return submissionID(w.hosts[w.jobs[n].origin].id, int(n))
}

// job returns the index of a submission. For one that does not exist it fails the run and returns −1.
func (w *World) job(i int32, id grid.JobID) int32 {
	if n := get32(id.Nonce[:]); n < uint32(len(w.jobs)) && w.jobID(int32(n)) == id {
		return int32(n)
	}
	w.failf(i, "speaks of job %v, which nobody submitted", id)
	return -1
}

// task returns the index of a task. For one that does not exist it fails the run and returns −1.
func (w *World) task(i int32, id grid.TaskID) int32 {
	if n := get32(id.Job.Nonce[:]); n < uint32(len(w.jobs)) {
		if j := &w.jobs[n]; w.jobID(int32(n)) == id.Job && id.Index < uint32(j.count) {
			return j.first + int32(id.Index)
		}
	}
	w.failf(i, "speaks of task %v, which nobody submitted", id)
	return -1
}

// taskName returns a task's name in failures.
func (w *World) taskName(t int32) string {
	j := w.tasks[t].job
	return fmt.Sprintf("task %d of submission %d (from n%d)", t-w.jobs[j].first, j, w.jobs[j].origin)
}

// jobRecord returns the record of a submission on its origin's disk.
func (w *World) jobRecord(n int32) grid.Record {
	j := &w.jobs[n]
	return grid.Record{Kind: grid.RecJob, Job: grid.JobRecord{ID: w.jobID(n), Spec: w.cfg.Work[n].Spec, Submitted: j.submitted, Cancelled: j.cancelled}}
}

// taskRecord returns the record of a task on its origin's disk.
func (w *World) taskRecord(k int32) grid.Record {
	t := &w.tasks[k]
	id := grid.TaskID{Job: w.jobID(t.job), Index: uint32(k - w.jobs[t.job].first)}
	r := grid.TaskRecord{ID: grid.AttemptID{Task: id, Attempt: t.last}, State: t.state, Lost: t.lost, Result: t.result.Result(),
		Placed: t.placed, Began: t.began, Done: t.done}
	if t.worker >= 0 {
		r.Worker = w.hosts[t.worker].id
	}
	if c, is := w.backups.copies[k]; is {
		r.Backup = &c
	}
	return grid.Record{Kind: grid.RecTask, Task: r}
}
