package oracle

import (
	"fmt"

	"skep/grid"
)

// job is a submission, and the fields of its record on the origin's disk that the submission does not have.
type job struct {
	spec           *grid.JobSpec
	submitted      int64
	reported       reportedJob // by nodes that were up to date
	origin         int32
	class          int32 // index into Books.classes
	first          int32 // index of its first task
	nextOfOrigin   int32 // next in the chain of its origin, from 1
	count          int32
	register       int32 // index into Books.registers, from 1; 0 = it has none
	confirmed      bool  // its node acknowledged the submission
	rejected       bool
	saved          bool // its record is on its origin's disk
	cancelled      bool
	cancelAnswered bool              // its cancellation was acknowledged
	retries        int32             // of its tasks, as callers had them run again
	opened         uint32            // as its record on its origin's disk says
	withdrawn      *grid.EntryRecord // the record of a cancellation after which it went on
	asked          asked
	use            use
}

// task is the durable state of a task, and its runs. Its record on the origin's disk is all here.
type task struct {
	Task
	job        int32
	runs       int32 // chain of the attempts that run, from 1
	acceptedBy int32 // node that accepted an attempt last; −1 = none
	workChain  int32 // chain of its attempts' records on workers' disks, from 1
	lost       int32
	pulls      uint8
	moves      uint8
	saved      bool // its record is on its origin's disk
	// who cancelled it was told that nothing of it starts any more
	cancelAnswered bool
	accepted       grid.Attempt // attempt that acceptedBy accepted
	placed         int64
	began          int64
	done           int64
}

// taskAttempt is an attempt of a task.
type taskAttempt struct {
	task    int32
	attempt grid.Attempt
}

// Job is what the books know of a submission.
type Job struct {
	Class          int           // index into Classes
	Confirmed      bool          // its node acknowledged the submission
	Rejected       bool          // its node refused it
	Saved          bool          // its record is on its origin's disk
	CancelAnswered bool          // its cancellation was acknowledged
	Members        []grid.NodeID // of its register; nil = it has none
}

// Job returns what the books know of a submission.
func (b *Books) Job(submission int) Job {
	j := &b.jobs[submission]
	return Job{Class: int(j.class), Confirmed: j.confirmed, Rejected: j.rejected, Saved: j.saved,
		CancelAnswered: j.cancelAnswered, Members: b.members(j)}
}

// Task is the durable state of a task at its origin, or of its register.
type Task struct {
	State   grid.TaskState // 0 = nothing yet
	Attempt grid.Attempt
	Worker  int32 // index; −1 = none
	Starts  int32 // started processes of all attempts, without refused ones
	Result  grid.CompactResult
	Ended   grid.Time // when its end was recorded
}

// Task returns the durable state of a task.
func (b *Books) Task(submission, index int) Task {
	return b.tasks[int(b.jobs[submission].first)+index].Task
}

// TaskAt returns the number of a task among those of all submissions.
func (b *Books) TaskAt(submission, index int) int32 { return b.jobs[submission].first + int32(index) }

// JobOf returns the submission of a task.
func (b *Books) JobOf(task int32) int32 { return b.tasks[task].job }

// Tasks is the number of tasks of all submissions.
func (b *Books) Tasks() int { return len(b.tasks) }

// Classes returns the classes of the submissions, in order of first use. They must not be changed.
func (b *Books) Classes() []string { return b.classes }

// members returns the members that a submission's origin chose for its register; nil = it has none.
func (b *Books) members(j *job) []grid.NodeID {
	if j.register == 0 {
		return nil
	}
	return b.registers[j.register-1].First
}

// taskName returns a task's name in failures.
func (b *Books) taskName(t int32) string {
	j := b.tasks[t].job
	return fmt.Sprintf("task %d of submission %d (from n%d)", t-b.jobs[j].first, j, b.jobs[j].origin)
}

// isSole reports whether a record of a register, or of one of its entries, is of a job that its origin alone keeps.
func (b *Books) isSole(i int32, r *grid.Record) bool {
	id := grid.JobID{}
	switch r.Kind {
	case grid.RecRegister:
		if !r.Delete {
			return len(r.Register.Members) == 1
		}
		id = r.Register.ID
	case grid.RecEntry:
		id = r.Entry.ID.Task.Job
	}
	n := b.job(i, id)
	return n >= 0 && b.jobs[n].register == 0
}

// storeJob makes the record of such a job durable.
func (b *Books) storeJob(i int32, r *grid.Record) {
	if n := b.job(i, r.Register.ID); n >= 0 {
		j := &b.jobs[n]
		j.saved, j.submitted, j.opened = !r.Delete, r.Register.Submitted, r.Register.Opened
	}
}

// storeTask makes the record of one of its tasks, or of its cancellation, durable.
func (b *Books) storeTask(i int32, r *grid.Record) {
	n := b.job(i, r.Entry.ID.Task.Job)
	if n < 0 {
		return
	}
	j := &b.jobs[n]
	for at, last := r.Entry.ID.Task.Index, r.Entry.ID.Task.Index+r.Entry.Further; at <= last; at++ {
		switch {
		case int32(at) < j.count:
			b.tasks[j.first+int32(at)].saved = !r.Delete
		case int32(at) == j.count:
			j.cancelled, j.withdrawn = !r.Delete && r.Entry.Open == nil, nil
			if e := r.Entry; !r.Delete && (e.Open != nil || e.Round > 0) {
				j.withdrawn = &e
			}
		default:
			b.storeDependency(i, n, at, r)
		}
	}
}

// jobRecords appends the records of such a job and of its cancellation.
func (b *Books) jobRecords(n int32, dst []grid.Record) []grid.Record {
	j := &b.jobs[n]
	id := b.world.JobID(n)
	register := grid.SoleRegister(id, j.spec, j.submitted)
	register.Opened = j.opened
	dst = append(dst, grid.Record{Kind: grid.RecRegister, Register: register})
	if j.withdrawn != nil {
		dst = append(dst, grid.Record{Kind: grid.RecEntry, Entry: *j.withdrawn})
	} else if j.cancelled {
		at := grid.AttemptID{Task: grid.TaskID{Job: id, Index: uint32(j.count)}}
		dst = append(dst, grid.Record{Kind: grid.RecEntry,
			Entry: grid.SoleEntry(&grid.TaskRecord{ID: at, State: grid.Ended})})
	}
	return b.dependencyRecords(n, dst)
}

// taskRecord returns the record of one of its tasks.
func (b *Books) taskRecord(k int32) grid.Record {
	t := &b.tasks[k]
	id := grid.TaskID{Job: b.world.JobID(t.job), Index: uint32(k - b.jobs[t.job].first)}
	r := grid.TaskRecord{ID: grid.AttemptID{Task: id, Attempt: t.Attempt}, State: t.State, Lost: t.lost,
		Result: t.Result.Result(),
		Placed: t.placed, Began: t.began, Done: t.done, Pulls: t.pulls, Moves: t.moves}
	if t.Worker >= 0 {
		r.Worker = b.world.ID(t.Worker)
	}
	if c, is := b.backups.copies[k]; is {
		r.Backup = &c
	}
	e := grid.SoleEntry(&r)
	b.addFailure(k, &e)
	return grid.Record{Kind: grid.RecEntry, Entry: e}
}
