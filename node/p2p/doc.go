// Package p2p is the driver of one pure node on a real machine: libp2p [2, 3] between the nodes, records and blobs
// on disk, tasks as processes. It joins three parts that do not know it: transport (bytes to and from peers),
// reachability (which nodes there are, and at which addresses) and runner (tasks and their files).
//
// One goroutine, the loop, owns the node and is the only one that steps it. All other goroutines (streams, dials,
// fetches, tasks, timers) turn what happens into events on the loop's bounded channel. The loop takes all waiting
// events, steps through them, commits the records of the batch in one transaction, and only then carries out the
// effects. So nothing is visible before it is durable, and the batch shares the cost of one commit. The loop calls
// nothing that blocks: slow work goes to a goroutine, and what does not fit in a full queue is dropped and counted.
//
// Peers are not trusted. What a peer sends is bounded in size and in rate by kind, is checked before it becomes an
// event, and is counted by reason where it is invalid. A peer that keeps sending invalid data is disconnected and
// blocked for a while. DESIGN.md has the table of bounds.
//
// Sources:
//
//	[2] libp2p specifications: pnet (private networks), noise, yamux, identify, circuit relay v2
//	[3] gossipsub v1.1, with signed messages
package p2p
