package gang

import "math/bits"

// sets are the candidate groups that were found, by the keys of their sets: an open hash table.
type sets struct {
	key  []uint64 // 0 = free
	used int
}

func newSets(most int) *sets {
	return &sets{key: make([]uint64, 1<<bits.Len(uint(max(2*most, 16)-1)))}
}

// add enters a set; one that is there is no second one.
func (g *sets) add(key uint64) {
	if 2*g.used >= len(g.key) {
		old := g.key
		*g = *newSets(len(old))
		for _, k := range old {
			if k != 0 {
				g.add(k)
			}
		}
	}
	key = max(key, 1)
	for k := int(key>>1) & (len(g.key) - 1); g.key[k] != key; k = (k + 1) & (len(g.key) - 1) {
		if g.key[k] == 0 {
			g.key[k] = key
			g.used++
			return
		}
	}
}
