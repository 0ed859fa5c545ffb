// Package dependency is what jobs wait for: the ends of other jobs.
//
// How what a job waits for has ended is in the job's own register, in entries after the cancellation
// (grid.JobSpec.DependencyEntry). A task is released once the entries that it waits for are committed, so whoever owns
// the job then, or later, knows as much (state.go).
//
// The owner of the job that waits asks the one that is waited for, by KindAwait, at its owner, else at its origin and
// the other members of its register (ask.go, answer.go). Who is asked answers with the ends that are committed, and
// remembers who asked: it tells the further ends as they come (subscriptions.go). Both sides forget this in a restart.
// News may be lost, so the asker repeats its question, after minAsk at first and maxAsk at last, at once when a node
// connects that it wants to ask, and elsewhere when the node that it has asked is gone. The answer to a repeated
// question is complete.
//
// Who says how a job has ended must be its origin or one of the members that the submission named; and it must have
// been asked. A false member can release a job early, or stop it, as it can write anything into that other job's
// register.
//
// A job that has ended is kept while it is awaited: see [Subscriptions.Keeps].
package dependency
