// Package register is what a member keeps of a job so that the job outlives the node that it was submitted to:
// a small replicated register, pure, driven by messages.
//
// A register has a fixed, odd number of members. An epoch has one owner, which writes how tasks ended; an
// entry is final when a majority of the members has accepted it in one epoch. A member takes part in an epoch only
// if it has promised no higher one. A new epoch begins when a majority promises it and says what it holds; for each
// entry the new owner goes on with what was accepted in the highest epoch, so whatever was final stays. That is
// Paxos [1] with one promise for all entries, each entry being a decree. Time is not part of it: whether the
// owner was heard of not long ago is told to it, and only decides whether a promise is given, never what is final.
//
//	[1] L. Lamport, The Part-Time Parliament, ACM Transactions on Computer Systems 16(2), 1998.
package register
