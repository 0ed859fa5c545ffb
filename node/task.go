package node

import (
	"iter"

	"skep/grid"
)

// task is what a node notes of one task of a job. A task of which nothing was noted looks for its place and takes no memory: what a
// member keeps of a job of others is bounded by what was written to it, not by the number of tasks that somebody named.
type task struct {
	state        grid.TaskState
	heldByWorker bool         // it ended while a node had its attempt
	uncommitted  bool         // it has ended, and no majority is known to hold that yet
	attempt      grid.Attempt // the one that it stands at, the last one made but for made
	backupMade   grid.Attempt // of second copies, the last one
	worker       grid.NodeID
	lost         int32
	result       grid.Brief // of an ended one
	placed       int64
	began        int64
	done         int64
	traces       traces
	live         *liveTask
}

// count is how many tasks a job has.
func (j *job) count() int { return int(j.spec.Count) }

// size is how many tasks of a job that is over are kept: of others' jobs, those that were written.
func (j *job) size() int {
	if j.replica != nil && j.replica.endedTasks > 0 {
		return int(j.replica.endedTasks)
	}
	return j.count()
}

// task returns a task to be changed. It stays where it is.
func (j *job) task(i uint32) *task {
	t := j.tasks.At(i)
	if t.state == 0 {
		t.state = grid.Pending
	}
	return t
}

// unnoted is a task of which nothing was noted.
var unnoted = task{state: grid.Pending}

// at returns a task to be read and no more.
func (j *job) at(i uint32) *task {
	if t := j.tasks.Peek(i); t != nil && t.state != 0 {
		return t
	}
	return &unnoted
}

// state is where a task stands.
func (j *job) state(i uint32) grid.TaskState { return j.at(i).state }

// known goes through the tasks of which something was noted, in order.
func (j *job) known() iter.Seq2[uint32, *task] {
	return func(yield func(uint32, *task) bool) {
		for i, t := range j.tasks.All() {
			if t.state != 0 && !yield(i, t) {
				return
			}
		}
	}
}

// attempt returns the ID of a task's last attempt.
func (j *job) attempt(i uint32) grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Job: j.id, Index: i}, Attempt: j.at(i).attempt}
}
