package queueing

import "math"

// tree is a tournament of the machines by the time of the next thing that happens to each. Each machine has
// one such time, so that setting it costs the depth, whatever was there before, and nothing is ever stale.
type tree struct {
	base int // the first leaf
	node []match
}

// match is who comes first of those below. Times are kept as the bits of a float that is not negative, which
// have the same order and are compared without a jump.
type match struct {
	bits uint64
	who  int32
}

func (m *match) at() float64 { return math.Float64frombits(m.bits) }

func newTree(m int) tree {
	base := 1
	for base < m {
		base *= 2
	}
	t := tree{base, make([]match, 2*base)}
	for k := range t.node {
		t.node[k].bits = math.Float64bits(math.Inf(1))
	}
	for j := range m {
		t.node[base+j].who = int32(j)
	}
	return t
}

// set gives machine j another time.
func (t *tree) set(j int, at float64) {
	k, best, who := t.base+j, math.Float64bits(at), int32(j)
	node := t.node
	node[k].bits = best
	for k > 1 {
		other := node[k^1]
		if other.bits < best+uint64(k&1) { // of equal times the left one comes first
			who = other.who
		}
		best = min(best, other.bits)
		k >>= 1
		node[k] = match{best, who}
	}
}
