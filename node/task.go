package node

import (
	"iter"

	"skep/grid"
)

// task is the state of one task of a job. An untouched task is pending and takes no memory: a replica of another node's
// job is bounded by what was written to it, not by the stated number of tasks.
type task struct {
	state        grid.TaskState
	heldByWorker bool         // it ended while a worker held its attempt
	uncommitted  bool         // it has ended, and the end is not committed
	attempt      grid.Attempt // current attempt: the newest but for backup attempts
	backupMade   grid.Attempt // newest backup attempt
	worker       grid.NodeID
	lost         int32
	result       grid.Brief // of an ended task
	placed       int64
	began        int64
	done         int64
	traces       traces
	live         *liveTask
}

// count is the number of tasks of a job.
func (j *job) count() int { return int(j.spec.Count) }

// size is the number of stored tasks of a finished job: of another node's job, those that were written.
func (j *job) size() int {
	if j.replica.endedTasks > 0 {
		return int(j.replica.endedTasks)
	}
	return j.count()
}

// task returns a task for writing; its address is stable.
func (j *job) task(i uint32) *task {
	t := j.tasks.At(i)
	if t.state == 0 {
		t.state = grid.Pending
	}
	return t
}

// unnoted is an untouched task.
var unnoted = task{state: grid.Pending}

// at returns a task for reading only.
func (j *job) at(i uint32) *task {
	if t := j.tasks.Peek(i); t != nil && t.state != 0 {
		return t
	}
	return &unnoted
}

func (j *job) state(i uint32) grid.TaskState { return j.at(i).state }

// known iterates over the touched tasks, in order.
func (j *job) known() iter.Seq2[uint32, *task] {
	return func(yield func(uint32, *task) bool) {
		for i, t := range j.tasks.All() {
			if t.state != 0 && !yield(i, t) {
				return
			}
		}
	}
}

// attempt returns the ID of a task's current attempt.
func (j *job) attempt(i uint32) grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Job: j.id, Index: i}, Attempt: j.at(i).attempt}
}
