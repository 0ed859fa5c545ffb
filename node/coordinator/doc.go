// Package coordinator manages the jobs that a node owns, and those of whose registers it is a member.
//
// A submission becomes a [job] with a register, which this node alone keeps or other members too (submission.go). The
// tasks wait in a queue (queue.go); a placement decision collects the candidates (package candidates), polls those
// that the policy names, and chooses one (placement.go). The attempt is offered (offer.go) and holds a lease
// (lease.go) until its result is recorded, once (result.go). A task that cannot be placed waits for a reason
// (wait.go); one that takes too long is reclaimed or gets a backup attempt (reclaim.go, backup_start.go). What a job
// says of failed tasks, and of those that run at a time, is in rules.go. A task's phases and queues are in package
// live, what is recorded of it in package tasks; invariant.go checks that they agree with the jobs. Gangs take turns
// (package rounds). What is done when a deadline is over, or cannot be met, is in deadline.go.
//
// What the register says counts: an owner acts only with its quorum lease, and an end is visible only once it is
// committed. The coordinator calls its registers, which never call it, and applies what has changed at them
// (replica.go, replica_member.go, takeover.go). A new owner places nothing during its takeover grace, in which workers
// report what earlier owners gave them (takeover.go). What was cancelled, a job or some of its tasks
// (cancel.go), stays behind a barrier until nothing of it can start (cancel_barrier.go); its tasks end as package
// cancellation says, many of them in batches (package bulk).
//
// It speaks to workers by messages, also to that of its own node; which jobs have another owner or are over it tells
// that one by a list of changes that the node carries. It asks package peers what it knows of the other nodes. Jobs
// that are over are archived, small ones packed (archive.go, packages archive and packed). What is stored for others is
// charged to them (package quota). Local callers that wait for a job are in package callers.
//
// What decisions weighed is kept in a log of bounded size, for explanations (placement.go, package decisions).
//
// DESIGN.md has the state diagram of a task.
package coordinator
