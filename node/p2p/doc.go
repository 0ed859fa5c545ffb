// Package p2p drives one pure node on a real machine: libp2p [2, 3] between the nodes, records and blobs
// on disk, tasks as processes.
//
// The idea: one goroutine, the loop, owns the node and is the only one that steps it. Everything else
// (streams, dials, fetches, tasks, timers) turns what happens into an event for the loop's bounded
// channel. The loop takes what has gathered, steps through it, commits the records of the whole batch in
// one transaction, and only then lets the effects out, so nothing is visible before it is durable and
// the cost of a commit is shared by all that came together. Nothing that the loop calls may block: what
// is slow is handed to a goroutine, what is full drops and counts.
//
// A peer is never trusted: what it sends is bounded in size and rate by kind, checked before it becomes
// an event, counted by reason where it is bad, and a peer that keeps sending bad things is cut off for a
// while. DESIGN.md has the table of bounds.
//
// Sources:
//
//	[2] libp2p specifications: pnet (private networks), noise, yamux, identify, circuit relay v2
//	[3] gossipsub v1.1, with signed messages
package p2p
