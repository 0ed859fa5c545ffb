package node

import (
	"math"
	"math/bits"

	"skep/grid"
)

// mark tells columns of rates and slots apart: that of a peer is compared whenever anything changed, and need not be kept for
// that. 0 is none. That two have the same mark by chance has a probability of 2^-64; a peer that sought it
// could only keep its own new rates from counting.
type mark uint64

func markOf(column []grid.Rate, slots float64) mark {
	h := math.Float64bits(slots) ^ uint64(len(column))
	for i := range column {
		r := &column[i]
		for k := range len(r.Class) {
			h = (h ^ uint64(r.Class[k])) * 0x100000001b3
		}
		h = bits.RotateLeft64(h^math.Float64bits(r.Alpha), 29) * 0x9e3779b97f4a7c15
		h = bits.RotateLeft64(h^math.Float64bits(r.Mu), 29) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	return max(mark(h), 1)
}
