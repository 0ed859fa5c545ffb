// Package exec keeps what a node has accepted: who waits, who runs, what is still free, and the results
// that their origins have not acknowledged.
//
// It is pure: it says what may start, a driver starts it. The queue is first come, first served, except
// that a task whose earlier attempt came to nothing goes before those that were submitted later, and that one too
// big for what is free may be passed by smaller ones, each a bounded number of times, so that neither cores idle nor
// anybody starves. The ledger is the only place where resources are taken and
// given back, and it panics rather than go negative.
//
// A gate may hold waiting work back (Gate). What it did not let start sleeps: Next passes over it without asking again, until Wake,
// WakeAll or its return to the queue. Whoever makes the gate has to wake what it would let start now; Asleep says what that may be.
// Results that are to be told again are a heap by when they are due (Tell, Told).
//
// Expected waiting time follows [1], chapter 2: the work before a task,
// served at the rate of all slots, with the running tasks counted by what is likely to be left of them.
//
//	[1] I. Al-Azzoni, Linear Programming Based Affinity Scheduling for Heterogeneous Computing
//	    Systems, PhD thesis, McMaster University, 2009.
package exec
