// Package node is one member of the grid: the whole protocol as a pure state machine.
//
// A driver feeds [Node.Step] one event at a time and carries out the effects. A node plays two parts at
// once. As origin it owns the jobs submitted to it: it places each task, keeps a lease on it, runs it
// again when the lease is lost and records its end once. As worker it owns the attempts that it accepted,
// tells their origins that they live, and keeps each result until the origin has saved it. What is lost in
// between is found by timers; what arrives twice or late is told by its (epoch, attempt).
//
// The files follow a task: job.go (submission, the table, the end), place.go (whom to ask, whom to
// choose), offer.go (the offer, its lease, its loss, its result), wait.go (nobody fits), work.go (the
// worker's part). rates.go measures what the theses assume as known.
//
// Sources:
//
//	[1] I. Al-Azzoni, Linear Programming Based Affinity Scheduling for Heterogeneous Computing
//	    Systems, PhD thesis, McMaster University, 2009: chapter 4, decentralised LPAS and mutual
//	    information feedback.
package node
