// Package checkpoint keeps checkpoints of tasks that run: files that a program has written, from which an attempt that
// replaces this one goes on. DESIGN.md has the protocol.
//
// A [Running] is the worker's side: the checkpoints that its attempts have closed. A [Store] is the side of the
// register's members: the newest whole checkpoint of each task, or of all ranks of a gang together, and, where this
// node owns the job, the one that is on its way. The coordinator tells what is asked of a job ([Jobs]), and puts the
// files into offers ([Store.Inputs]).
package checkpoint
