package retention

import (
	"testing"

	"skep/grid"
)

// Whatever the order in which jobs come, the list has them by their ends, and those that ended at once as they came.
func TestListIsInTheOrderOfEnds(t *testing.T) {
	for seed := range uint64(200) {
		r := grid.NewRand(seed, 1)
		var l list
		n := 1 + r.IntN(40)
		for k := range n {
			l.insert(&Job{ended: grid.Time(r.IntN(12)), seq: uint64(k)})
		}
		seen := 0
		for j := l.first; j != nil; j = j.links[l.which].after {
			seen++
			if next := j.links[l.which].after; next != nil && (!j.older(next) || next.links[l.which].before != j) {
				t.Fatalf("seed %d: %v, %d stands before %v, %d", seed, j.ended, j.seq, next.ended, next.seq)
			}
		}
		if seen != n || l.len != n || l.last.links[l.which].after != nil {
			t.Fatalf("seed %d: %d of %d jobs are in the list", seed, seen, n)
		}
	}
}
