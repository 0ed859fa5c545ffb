package queueing

import "math"

// tree is a tournament of the machines by the time of the next thing that happens to each. Each machine has
// one such time, so that setting it costs the depth, whatever was there before, and nothing is ever stale.
type tree struct {
	base int // the first leaf
	node []match
}

// match is who comes first of those below.
type match struct {
	at  float64
	who int32
}

func newTree(m int) tree {
	base := 1
	for base < m {
		base *= 2
	}
	t := tree{base, make([]match, 2*base)}
	for k := range t.node {
		t.node[k].at = math.Inf(1)
	}
	for j := range m {
		t.node[base+j].who = int32(j)
	}
	return t
}

// set gives machine j another time.
func (t *tree) set(j int, at float64) {
	k := t.base + j
	t.node[k].at = at
	for k > 1 {
		// Of equal times the left one comes first.
		a, b := t.node[k&^1], t.node[k|1]
		if b.at < a.at {
			a = b
		}
		k >>= 1
		t.node[k] = a
	}
}
