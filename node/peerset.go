package node

import (
	"encoding/binary"

	"skep/grid"
)

// peerset is the peers by identity. They are few and looked for often: their first bytes lie side by side.
type peerset []peerKey

type peerKey struct {
	head uint64 // of the identity, in its order
	*peer
}

func head(id grid.NodeID) uint64 { return binary.BigEndian.Uint64(id[:]) }

// find returns where a peer stands, or would.
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

// get returns a peer; nil if it is not here.
func (s peerset) get(id grid.NodeID) *peer {
	if i, ok := s.find(id); ok {
		return s[i].peer
	}
	return nil
}
