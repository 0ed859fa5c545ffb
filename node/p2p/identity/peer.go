package identity

import (
	"strings"

	"github.com/libp2p/go-libp2p/core/peer"

	"skep/grid"
)

// idPrefix precedes the 32 bytes of an Ed25519 key in a libp2p identity: an identity multihash of 36 bytes around a
// protobuf key of type 1. So no table is needed in either direction.
const idPrefix = "\x00\x24\x08\x01\x12\x20"

// Peer returns the libp2p identity of a node.
func Peer(n grid.NodeID) peer.ID { return peer.ID(idPrefix + string(n[:])) }

// Node returns the node with a libp2p identity; false if that is not an Ed25519 key.
func Node(p peer.ID) (n grid.NodeID, ok bool) {
	key, ok := strings.CutPrefix(string(p), idPrefix)
	if !ok || len(key) != len(n) {
		return n, false
	}
	copy(n[:], key)
	return n, true
}
