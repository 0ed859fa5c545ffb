// Package node is one member of the grid: the whole protocol as a pure state machine.
//
// A driver feeds [Node.Step] one event at a time and carries out the effects. The node only routes: dispatch.go passes
// each event, message and timer to the part that it concerns, and loopback.go carries what one part says to another. A
// node has three roles at once:
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
// node. Every event, message and timer comes by dispatch.go.
//
// A submission and back: coordinator/submission.go accepts the job, membership/choice.go chooses the members of its
// register, coordinator/queue.go (PlaceNext, called by Step) takes the next task, coordinator/placement.go chooses a
// worker, coordinator/offer.go sends the offer. There offer_received.go and worker/offer.go accept it, worker/intake.go
// once others have come, exec/queue.go (Next) decides what starts, worker/run.go starts it and sends the result.
// coordinator/result.go takes that, coordinator/job.go (end) ends the task, replication/ownership.go commits the end.
//
// Where a policy decides: coordinator/placement.go polls the candidates (coordinator/candidates, peers/candidate.go)
// that the policy names, worker/worker.go (Answer) answers at a polled node, and coordinator/offer.go carries out the
// choice. coordinator/backup_start.go asks a policy for backup attempts. peers/column.go tells it the rates. The
// default policy is balance/lpas_dec.go with balance/allocation.go; balance/policy.go has the interface. A remote
// node that is the only candidate is not polled, and no policy is asked about work that an idle node pulls
// (coordinator/reclaim.go, Grant).
//
// A worker's death: peers/peers.go (Down) notes that it has disconnected, coordinator/lease.go shortens the leases of
// its attempts (ShortenLeases) and gives them up (attemptLost). coordinator/backup_attempt.go (promoteBackup) makes a
// backup attempt the task's primary, else coordinator/queue.go and coordinator/placement.go place the task again, after
// a second loss with a pause (coordinator/wait.go, parkFor). coordinator/result.go handles a late result. What is
// learned of the worker is in peers/record.go and reputation/record.go.
//
// An owner's death: replication/succession.go and replication/campaign.go elect another one, replication/ownership.go
// makes it the owner, coordinator/takeover.go adopts what runs, worker/owner_claim.go and worker/owner.go follow.
//
// How an ad spreads: ad.go and profile/ad.go make it, and gossip/gate.go decides when it is sent. At each node
// gossip/hear.go (pass, others) forwards it to the neighbours for which the rule allows it: gossip/rule.go multiplies
// the probabilities of the rules in gossip/reach.go, gossip/gate.go, gossip/distinct.go and gossip/adapt.go.
// gossip/send.go makes the digest. peers/peers.go (AdHeard) takes a newer ad, and coordinator/wait.go (AdNews,
// NodeChanged) resumes the tasks that wait for such a node.
//
// Work that waits while another node is idle: pull/ask.go asks, pull/give.go answers; worker/pull.go,
// worker/hand_back.go and coordinator/reclaim.go give it away.
//
// A need that no known node meets: coordinator/wait.go begins a search, search.go carries its answer,
// discovery/search.go and discovery/walk.go walk. Files that a job needs or leaves are stored by its members: package
// deposit; coordinator/deposits.go follows.
//
// # Glossary
//
// Ad, view. An ad is what a node says of itself, signed; the view is the ads of the other nodes that gossip has brought
// here.
// Job, task, attempt. A job has 1 to 100,000 tasks. An attempt is one placement of a task on one worker; its number
// (epoch, n) only grows, and a message about another than the current attempt is stale.
//
// Origin, owner, worker. The origin is the node that a job was submitted to and never changes. The owner decides about
// the job: the origin, until another member takes over. The worker runs an attempt.
//
// Register, member, replica. A job's register holds the final state of its tasks on 1, 3 or 5 members. A replica is one
// member's copy of it, with what that member knows of the owner.
// Committed. A task's end is committed when a majority of the members has it; before, it is uncommitted and not
// visible.
//
// Quorum lease. An owner may act on a job for one lease after it sent what a majority has answered ([Node.MayAct]).
// Keepalives renew it for all registers that two nodes share.
// Campaign, vote, epoch, takeover. A member that has not heard from the owner for the takeover delay campaigns for the
// next epoch; with the votes of a majority it is the owner.
// Takeover grace. For one lease after a takeover nothing is placed: workers report the attempts that earlier owners
// made, and the new owner adopts them.
//
// Attempt lease, beat. The owner gives an attempt up when its worker has sent no beat for a lease.
// Start lease. A worker may start a waiting attempt only while its start lease, granted by the owner, is valid.
//
// Pull. An idle node asks one where work waits for a task; a waiting attempt goes back to its owner as never started.
// Vacate. A worker gives a started attempt up, as its owner asks, so that the task goes on at another node.
// Backup attempt. A second attempt of a task that already runs, of idempotent jobs only.
// Cancel barrier. A cancelled job stays behind its barrier until nothing of it can start on any worker.
//
// Track record. First-hand record of a worker: attempts outstanding, results, actual against expected times. A worker
// without one is on probation. A straggler, an attempt that its worker does not end in time, is reclaimed.
//
// Failure log, blacklist. How tasks of a class ended at each node. A node that fails a class which others run is on
// that class's blacklist, with back-off; then one task probes it.
// Pending submission. A submission whose members are not chosen yet (package membership; node/create_jobs.go).
// Owner cache. Nodes that have announced takeovers of jobs that do not concern this node (package ownercache).
// Owner record. A worker's record of who owns the job of an attempt, as far as it knows.
// Tombstones. Attempts that a worker let go of: a repeated offer of one does not start it again.
// Register tombstone. What a member keeps of a closed register that it has evicted: its answer that the job is over.
// Archive, packed job. Jobs that are over, oldest end first. Small ones are packed.
// Deposit. Files that a member stores for a job submitted elsewhere, within the quota; evictable once the job is over.
// Tuning. The part of a configuration that nodes of a grid have in common.
//
// Sources:
//
//	[1] I. Al-Azzoni, Linear Programming Based Affinity Scheduling for Heterogeneous Computing
//	    Systems, PhD thesis, McMaster University, 2009: chapter 4, decentralised LPAS and mutual
//	    information feedback.
package node
