package exclusion

import (
	"slices"
	"testing"

	"skep/grid"
)

// A node is barred after its second vain pull, and the task stays after three of any nodes.
func TestVainPulls(t *testing.T) {
	var v VainPulls
	a, b := grid.NodeID{1}, grid.NodeID{2}
	for i, x := range []struct {
		id        grid.NodeID
		bars      bool // a
		exhausted bool
	}{{a, false, false}, {b, false, false}, {a, true, true}} {
		v.Add(x.id)
		if v.Bars(a) != x.bars || v.Bars(b) || v.Exhausted() != x.exhausted {
			t.Errorf("after %d: bars %t and %t, exhausted %t", i+1, v.Bars(a), v.Bars(b), v.Exhausted())
		}
	}
	if barred := slices.Compact(slices.Collect(v.Barred())); !slices.Equal(barred, []grid.NodeID{a}) {
		t.Errorf("barred: %v, want the first node", barred)
	}
}
