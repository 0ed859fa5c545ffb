// Package offered says, for a job whose tasks run at most once, which of them may have been offered to a worker
// ([grid.OfferedTasks]). The job's register has that as an entry of its own, so that a new owner ends as lost only what
// may have been offered and nobody reports, and runs the rest.
//
// The set grows before its new tasks are offered, by [Batch] tasks at a time, and ahead of need, so that the write is
// seldom waited for. It shrinks when the job has offered nothing for a while: by the tasks that wait and of which no
// attempt can start. As long as nothing is written it is the first [Batch] tasks, so that a short job writes nothing.
//
// Invariant: a task is offered only if it is in each set that a new owner may find: in the one that a majority of the
// members has last accepted, and in the one that is being written since ([Book.Covers]). So of a task that is in the
// newest set not, nothing can start. One set is written at a time.
package offered
