// Package node is one member of the grid: the whole protocol as a pure state machine.
//
// A driver feeds [Node.Step] one event at a time and carries out the effects. The node only routes: dispatch.go passes
// each event, message and timer to the part that it concerns, and carries what one part says to another. A node has
// three roles at once:
//
//   - owner of jobs, and member of the registers of other nodes' jobs (package coordinator): it places each task, keeps
//     a lease on each attempt, places the task again when the lease expires, and records its end once;
//   - worker (package worker): it runs the attempts that it accepted, sends beats to their owners, and keeps each
//     result until the owner has acknowledged it;
//   - replica of registers (package replication): it stores what they say, and takes over when an owner is silent. The
//     coordinator applies what has changed.
//
// These, reputation and rates do not know each other: they speak by values of package grid. Timers find what is lost in
// between; the pair (epoch, attempt) tells what arrives twice or late.
//
// # Where things are
//
// Paths are relative to this folder; gossip, discovery, balance, exec and grid lie beside it, and node/p2p drives the
// node.
//
// A submission and back: dispatch.go, coordinator/submission.go (accept, create, confirm), membership (who keeps the
// job), coordinator/placement.go and coordinator/offer.go, worker/offer.go, worker/start_lease.go, worker/run.go,
// coordinator/result.go, coordinator/replica.go (the register commits the end), coordinator/view.go. What the node
// sends to itself is delivered in loopback.go.
//
// Where a policy decides: coordinator/placement.go asks it, with the candidates of coordinator/candidates.go and
// peers/candidate.go; peers/column.go tells it the rates; the policies are in package balance.
//
// A worker's death: coordinator/lease.go gives its attempts up, coordinator/queue.go and placement.go place them again;
// what is learned of the worker is in peers/record.go and package reputation.
//
// An owner's death: replication/succession.go and campaign.go elect another one, replication/ownership.go makes it the
// owner, coordinator/takeover.go adopts what runs, worker/claim.go and owner.go follow.
//
// How an ad spreads: ad.go and package profile make it, package gossip keeps the view and forwards it (rule.go decides
// what goes on to whom), peers/exchange.go takes its rates.
//
// Work that waits while another node is idle: package pull; worker/pull.go and coordinator/reclaim.go give it away.
//
// A need that no known node meets: coordinator/wait.go begins a search, search.go carries its answer, package discovery
// walks.
//
// Files that a job needs or leaves are stored by its members: package deposit; coordinator/deposits.go follows.
//
// # Glossary
//
// Ad, view. An ad is what a node says of itself, signed; the view is the ads of the other nodes that gossip has brought
// here.
//
// Job, task, attempt. A job has 1 to 100,000 tasks. An attempt is one placement of a task on one worker; its number
// (epoch, n) only grows, and a message about another than the current attempt is stale.
//
// Origin, owner, worker. The origin is the node that a job was submitted to and never changes. The owner decides about
// the job: the origin, until another member takes over. The worker runs an attempt.
//
// Register, member, replica. A job's register holds the final state of its tasks on 1, 3 or 5 members. A replica is one
// member's copy of it, with what that member knows of the owner.
//
// Committed. A task's end is committed when a majority of the members has it; before, it is uncommitted and not
// visible.
//
// Quorum lease. An owner may act on a job for one lease after it sent what a majority has answered ([Node.MayAct]).
// Keepalives renew it for all registers that two nodes share.
//
// Campaign, vote, epoch, takeover. A member that has not heard from the owner for the takeover delay campaigns for the
// next epoch; with the votes of a majority it is the owner.
//
// Takeover grace. For one lease after a takeover nothing is placed: workers claim the attempts that earlier owners
// made, and the new owner adopts them.
//
// Attempt lease, beat. The owner gives an attempt up when its worker has sent no beat for a lease.
//
// Start lease. A worker may start a waiting attempt only while its start lease, granted by the owner, is valid.
//
// Pull. An idle node asks one where work waits for a task; a waiting attempt goes back to its owner as never started.
//
// Backup attempt. A second attempt of a task that already runs, of idempotent jobs only.
//
// Cancel barrier. A cancelled job stays behind its barrier until nothing of it can start on any worker.
//
// Track record. What this node has itself seen of a worker: attempts outstanding, results, actual against promised
// times. A worker without one is on probation. A straggler is an attempt that its worker does not end in time; it is
// reclaimed.
//
// Failure log, blacklist. How tasks of a class ended at each node. A node that fails a class which others run is on
// that class's blacklist, with back-off; then one task probes it.
//
// Pending submission. A submission whose members are not chosen yet (package membership; submission.go).
//
// Owner cache. Nodes that announced to have taken over jobs with which this node has nothing to do (package
// ownercache).
//
// Owner record. A worker's record of who owns the job of an attempt, as far as it knows.
//
// Tombstones. Attempts that a worker let go of: a repeated offer of one does not start it again.
//
// Register tombstone. What a member keeps of a closed register that it has evicted: its answer that the job is over.
//
// Archive, packed job. Jobs that are over, oldest end first. Small ones are packed.
//
// Deposit. Files (inputs of a job, outputs of a task) that a member stores for a job submitted elsewhere, within the
// deposit quota; evictable once the job is over.
//
// Tuning. The part of a configuration that nodes of a grid have in common.
//
// Sources:
//
//	[1] I. Al-Azzoni, Linear Programming Based Affinity Scheduling for Heterogeneous Computing
//	    Systems, PhD thesis, McMaster University, 2009: chapter 4, decentralised LPAS and mutual
//	    information feedback.
package node
