// Package node is one member of the grid: the whole protocol as a pure state machine.
//
// A driver feeds [Node.Step] one event at a time and carries out the effects. A node has three roles at once:
//
//   - owner of jobs: it places each task, keeps a lease on each attempt, places the task again when the lease expires, and
//     records its end once (job.go, placement.go, offer.go, lease.go, result.go, wait.go);
//   - worker: it runs the attempts that it accepted, sends beats to their owners, and keeps each result until the owner has
//     acknowledged it (package worker; attempt.go carries what the worker and the other parts say to each other);
//   - replica of other nodes' jobs: it stores what their registers say, and takes over when an owner is silent (package
//     replication; the jobs follow the changes of their registers in takeover.go), and the files that these name (package
//     deposit; followed in deposits.go).
//
// Timers find what is lost in between; the pair (epoch, attempt) tells what arrives twice or late.
//
// What it measures of arrivals and run times is package rates, what it has itself seen of others package reputation;
// column.go joins both with the rates that peers claim, and has package policies tell the result to the placement
// policies. What it says about itself is package profile; ad.go hands that to gossip.
//
// # Glossary
//
// Job, task, attempt. A job has 1 to 100,000 tasks. An attempt is one placement of a task on one worker; its number (epoch, n)
// only grows, and a message about another than the current attempt is stale.
//
// Origin, owner, worker. The origin is the node that a job was submitted to and never changes. The owner decides about the
// job: the origin, until another member takes over. The worker runs an attempt.
//
// Register, member, replica. A job's register holds the final state of its tasks on 1, 3 or 5 members. A replica is one
// member's copy of it, with what that member knows of the owner.
//
// Committed. A task's end is committed when a majority of the members has it; before, it is uncommitted and not visible.
//
// Quorum lease. An owner may act on a job for one lease after it sent what a majority has answered ([Node.MayAct]). Keepalives
// renew it for all registers that two nodes share.
//
// Campaign, vote, epoch, takeover. A member that has not heard from the owner for the takeover delay campaigns for the next
// epoch; with the votes of a majority it is the owner.
//
// Takeover grace. For one lease after a takeover nothing is placed: workers claim the attempts that earlier owners made, and
// the new owner adopts them.
//
// Attempt lease, beat. The owner gives an attempt up when its worker has sent no beat for a lease.
//
// Start lease. A worker may start a waiting attempt only while its start lease, granted by the owner, is valid.
//
// Backup attempt. A second attempt of a task that already runs, of idempotent jobs only.
//
// Cancel barrier. A cancelled job stays behind its barrier until nothing of it can start on any worker.
//
// Track record. What this node has itself seen of a worker: attempts outstanding, results, actual against promised times. A
// worker without one is on probation. A straggler is an attempt that its worker does not end in time; it is reclaimed.
//
// Failure log, blacklist. How tasks of a class ended at each node. A node that fails a class which others run is on that
// class's blacklist, with back-off; then one task probes it.
//
// Pending submission. A submission whose members are not chosen yet (package membership; submission.go).
//
// Owner cache. Nodes that announced to have taken over jobs with which this node has nothing to do.
//
// Owner record. A worker's record of who owns the job of an attempt, as far as it knows.
//
// Tombstones. Attempts that a worker let go of: a repeated offer of one does not start it again.
//
// Register tombstone. What a member keeps of a closed register that it has evicted: its answer that the job is over.
//
// Archive, packed job. Jobs that are over, oldest end first. Small ones are packed.
//
// Deposit. Files (inputs of a job, outputs of a task) that a member stores for a job submitted elsewhere, within the deposit
// quota; evictable once the job is over.
//
// Tuning. The part of a configuration that nodes of a grid have in common.
//
// Sources:
//
//	[1] I. Al-Azzoni, Linear Programming Based Affinity Scheduling for Heterogeneous Computing
//	    Systems, PhD thesis, McMaster University, 2009: chapter 4, decentralised LPAS and mutual
//	    information feedback.
package node
