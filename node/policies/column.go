package policies

import (
	"math"
	"math/bits"

	"skep/balance"
	"skep/grid"
)

// ColumnsChanged says that some column may be another than the policies were told.
func (s *Set) ColumnsChanged() { s.stale = true }

// TakeChange reports whether a column may have changed, or is new to a policy, since the last call.
func (s *Set) TakeChange() bool {
	stale := s.stale
	s.stale = false
	return stale
}

// Tell gives the policies a peer's column: by class its arrival rate and the rate of one slot, and its number of slots.
// told is the column that they have; 0 = none.
func (s *Set) Tell(now grid.Time, id grid.NodeID, column []grid.Rate, slots float64, told *Mark) {
	if m := s.mark(column, slots); m != *told {
		*told = m
		s.Note(balance.Outcome{Kind: balance.Rates, At: now, Node: id, Rates: column, Slots: slots})
	}
}

// TellOwn gives the policies this node's column.
func (s *Set) TellOwn(now grid.Time, self grid.NodeID, column []grid.Rate, slots float64) {
	s.Tell(now, self, column, slots, &s.own)
}

// Mark is a 64-bit hash of a column and of the number of policies made until it was told, kept instead of the column to
// detect changes; 0 = none. Two columns share a mark with probability 2^-64; a peer that forced a collision could only
// hide its own new rates.
type Mark uint64

func (s *Set) mark(column []grid.Rate, slots float64) Mark {
	h := (math.Float64bits(slots) ^ uint64(len(column))) + s.made*0x9e3779b97f4a7c15
	for i := range column {
		r := &column[i]
		for k := range len(r.Class) {
			h = (h ^ uint64(r.Class[k])) * 0x100000001b3
		}
		h = bits.RotateLeft64(h^math.Float64bits(r.Alpha), 29) * 0x9e3779b97f4a7c15
		h = bits.RotateLeft64(h^math.Float64bits(r.Mu), 29) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	return max(Mark(h), 1)
}
