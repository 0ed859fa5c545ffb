package node

import (
	"encoding/binary"

	"skep/grid"
)

// peerset is the peers sorted by identity. It is small and searched often, so the first 8 bytes of the identities lie
// side by side in memory.
type peerset []peerKey

type peerKey struct {
	head uint64 // first 8 bytes of the identity, big-endian: same order
	*peer
}

func head(id grid.NodeID) uint64 { return binary.BigEndian.Uint64(id[:]) }

// find returns the index of a peer, or where to insert it.
func (s peerset) find(id grid.NodeID) (int, bool) {
	h := head(id)
	lo, hi := 0, len(s)
	for lo < hi {
		if mid := (lo + hi) / 2; s[mid].head < h {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	for ; lo < len(s) && s[lo].head == h; lo++ {
		if c := s[lo].id.Compare(id); c >= 0 {
			return lo, c == 0
		}
	}
	return lo, false
}

// get returns a peer; nil if it is unknown.
func (s peerset) get(id grid.NodeID) *peer {
	if i, ok := s.find(id); ok {
		return s[i].peer
	}
	return nil
}
