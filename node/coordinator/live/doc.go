// Package live keeps the tasks that are being placed or have an attempt: the phase that each is in, and the queue that
// it waits in.
//
// A task is idle at first, and whenever it is decided anew:
//
//	idle    → polling, offered, placed, waiting   Poll, Offer, Accept, Park
//	polling → idle            Release: the answers are in, or the task is over
//	offered → placed, idle    Accept; Release: refused, lost, over
//	placed  → idle            Release: lost, ended, reclaimed
//	waiting → idle            Dequeue: its timer, or the change that it awaited
//
// An idle task becomes placed without an offer if a worker reports it, after a restart, and when its accepted backup
// attempt becomes the only one. The invariants, which [Table.Broken] checks:
//
//   - a task is in one queue at most: an idle one in that of the tasks to place again, a waiting one in the list of its
//     job that it awaits something with, or in that of all others; no other one is in any;
//   - the decisions in flight are the tasks that are polled for or offered;
//   - what a job counts is right: its tasks that are polled for, those that have started, those that hold others back.
//
// The table decides nothing. Who owns the jobs decides when a task changes its phase, and what follows for its job.
package live
