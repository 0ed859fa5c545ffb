package exclusion

import (
	"testing"

	"skep/grid"
)

// A task goes to no class twice, and moves a few times at most.
func TestDemotions(t *testing.T) {
	var d Demotions
	a, b := grid.NodeID{1}, grid.NodeID{2}
	if !d.May("large") || d.By(a) {
		t.Fatal("a task that never moved may not")
	}
	d.Add(a, "small")
	if d.May("small") || !d.May("large") || !d.By(a) || d.By(b) {
		t.Errorf("after one move: %v", d)
	}
	for _, class := range []string{"1", "2", "3"} {
		d.Add(b, class)
	}
	if d.May("large") {
		t.Errorf("it may move after %d moves", len(d))
	}
}
