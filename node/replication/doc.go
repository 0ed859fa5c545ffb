// Package replication keeps jobs alive beyond their origin: each job has a register, a small replicated store of how
// its tasks ended, with this node as one of its members.
//
// [Register] is one member's copy of a register, pure and driven by messages. It has a fixed, odd number of members. An
// epoch has one owner, which writes how tasks ended; an entry is committed when a majority of the members has accepted
// it in one epoch. A member takes part in an epoch only if it has not voted for a higher one. A new epoch begins when a
// majority votes for it, each vote with the voter's entries; for each entry the new owner takes the one accepted in the
// highest epoch, so every committed entry stays. That is Paxos [1] with one promise (the vote) for all entries, each
// entry being a decree. Time is not part of it: the caller says whether the owner was heard of recently, and that only
// decides whether a vote is given, never what is committed.
//
// [Replicas] are the registers of which this node is a member, with time: the owner's quorum lease, the keepalives that
// renew it for all registers that two nodes share, and the writes that are repeated until they are answered.
//
// A member that evicts the register of a job that is over keeps a tombstone of it ([Tombstones]): it must not take part
// again as if it had never promised anything. outcome.go says how a member learns from tombstones that its job is over.
//
// The scripts in testdata show it message by message.
//
//	[1] L. Lamport, The Part-Time Parliament, ACM Transactions on Computer Systems 16(2), 1998.
package replication
