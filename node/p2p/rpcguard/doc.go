// Package rpcguard bounds what peers send over gossipsub [3], before libp2p's pubsub decodes it.
//
// Pubsub's own options bound the size of a frame and filter the topics of subscriptions, but a frame of 32 KiB may
// hold 16,384 empty messages, which take 4 MiB once they are decoded, message IDs of any length, which are stored
// for two minutes, and peers to be dialled. So the guard wraps the streams that pubsub reads: it reads one whole
// frame of a stream at a time, walks over its fields without allocating, and passes it on when all counts and
// lengths are within what a node sends (check.go). It also bounds the rate, of each peer and of all together, by
// reading more slowly (stream.go): a bounded rate bounds the memory of what pubsub stores for a time.
//
// What pubsub v0.17 stores on behalf of peers, and what bounds it, is in DESIGN.md of node/p2p.
//
// Sources:
//
//	[3] gossipsub v1.1 and v1.2, https://github.com/libp2p/specs/tree/master/pubsub/gossipsub
package rpcguard
