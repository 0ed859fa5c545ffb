package exec

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
)

// A place counts what starts before: by bids the higher ones, with fair shares by turns; what may not start has none.
func TestPlaces(t *testing.T) {
	for rule, want := range map[string][]uint32{
		"bid":  {2, 3, 4, 5, 0, 1}, // within a line by arrival
		"fair": {2, 4, 5, 3, 0, 1}, // the second node's is between the first one's
		"fifo": {1, 2, 3, 4, 0, 5},
	} {
		e := new(New(grid.Resources{CPU: grid.CPU}))
		e.OrderBy(orderBy(rule), second)
		come(e, 0, 9, 100, 1000, grid.CPU, "c")
		e.Next(0)
		var all []*Work
		for i, node := range []byte{1, 1, 1, 2} {
			all = append(all, come(e, grid.Time(i)*grid.Time(time.Second), node, i, 1000, grid.CPU, "c"))
		}
		all = append(all, e.Accept(0, id(5), offer(grid.CPU, 0, "c"), false)) // without its inputs
		all = append(all, come(e, 0, 3, 6, 4000, grid.CPU, "c"))
		places := func() (got []uint32) {
			for _, w := range all {
				got = append(got, w.Place())
			}
			return got
		}
		e.Places(0, second, 64)
		if got := places(); !slices.Equal(got, want) {
			t.Errorf("%s: places %v, want %v", rule, got, want)
		}
		e.Places(0, second, 2)
		first := slices.Clone(want)
		for i, p := range first {
			if p > 2 {
				first[i] = 0
			}
		}
		if got := places(); !slices.Equal(got, first) {
			t.Errorf("%s: places %v, want the first two alone, %v", rule, got, first)
		}
	}
}
