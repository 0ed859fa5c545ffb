// Package rpcguard bounds what peers say over gossipsub [3], before libp2p's pubsub decodes it.
//
// The idea: pubsub's own options bound the size of a frame and filter the topics of subscriptions, but a frame of 32 KiB
// may hold 16,384 empty messages, which are 4 MiB once they are decoded, message IDs of any length, which are kept for two
// minutes, and peers to be dialled. So the guard stands between the streams and pubsub: it takes in one whole frame of a
// stream at a time, walks over its fields without allocating, and hands it on when all counts and lengths are those that a
// node sends (check.go). It also bounds the rate, of each peer and of all together, by reading more slowly (stream.go):
// what is bounded in rate is bounded in memory where pubsub keeps it for a time.
//
// What pubsub v0.17 keeps for what peers send, and what bounds it, is in DESIGN.md of node/p2p.
//
// Sources:
//
//	[3] gossipsub v1.1 and v1.2, https://github.com/libp2p/specs/tree/master/pubsub/gossipsub
package rpcguard
