// Package register is a member's copy of a job's register, with which the job outlives its origin: a small replicated
// register, pure, driven by messages.
//
// A register has a fixed, odd number of members. An epoch has one owner, which writes how tasks ended; an entry is
// committed when a majority of the members has accepted it in one epoch. A member takes part in an epoch only if it has
// not voted for a higher one. A new epoch begins when a majority votes for it, each vote with the voter's entries; for
// each entry the new owner takes the one accepted in the highest epoch, so every committed entry stays. That is Paxos
// [1] with one promise (the vote) for all entries, each entry being a decree. Time is not part of it: the caller says
// whether the owner was heard of recently, and that only decides whether a vote is given, never what is committed.
//
//	[1] L. Lamport, The Part-Time Parliament, ACM Transactions on Computer Systems 16(2), 1998.
package register
