// Package generations keeps the generations of peers on disk and tells them this node's own: package generation with
// streams, a clock and a disk.
//
// A statement goes by a stream of its own, of one message and a byte that acknowledges it, to at most
// generation.PerRound peers a second. What peers have told is written to the part of the database that is not for
// records, at most once a second, in one transaction, beside the node's loop. What a peer knows of this node comes with
// its hello, before the session begins: see transport.Generations.
package generations
