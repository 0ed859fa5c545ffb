package node

import (
	"math"
	"math/bits"

	"skep/grid"
)

// mark is a 64-bit hash of a column of rates and slots, kept instead of the column to detect changes; 0 = none. Two
// columns share a mark with probability 2^-64; a peer that forced a collision could only hide its own new rates.
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
