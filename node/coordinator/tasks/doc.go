// Package tasks keeps what is recorded of the tasks of a job: their states, their newest attempts, and how they ended.
//
// A task that nothing is known of is pending and takes no memory: a replica of another node's job is bounded by what
// was written to it, not by the stated number of tasks. The invariants of a [List], which [List.Broken] checks:
//
//   - it counts how many tasks are in each state;
//   - the tasks whose end is not committed are among those that have ended, and are counted.
//
// An end is visible once it is committed; see [List.Propose] and [List.Commit]. What is on disk of a task is made of
// its state here, of its entry in the job's register, and of the files that are kept for it: [List.Record]. A restarted
// node reads it with [List.Restore].
package tasks
