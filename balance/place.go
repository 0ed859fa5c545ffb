package balance

import (
	"encoding/binary"

	"skep/grid"
)

// place is a node's index under the first bytes of its identity: few nodes are looked for often.
type place struct {
	head uint64
	node int32
}

// find returns where a node stands in order, or would.
func (r *rates) find(id grid.NodeID) (int, bool) {
	head := binary.BigEndian.Uint64(id[:])
	lo, hi := 0, len(r.order)
	for lo < hi {
		if mid := (lo + hi) / 2; r.order[mid].head < head {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	for ; lo < len(r.order) && r.order[lo].head == head; lo++ {
		if c := r.ids[r.order[lo].node].Compare(id); c >= 0 {
			return lo, c == 0
		}
	}
	return lo, false
}
