package contract

import (
	"testing"

	"skep/grid"
)

// What a gang itself sends does not make its nodes look slow; a fast link, and a slow one of other nodes, stay.
func TestOwnTraffic(t *testing.T) {
	node := func(id byte, rate float64) grid.GangNode {
		return grid.GangNode{Node: grid.NodeID{id}, Link: grid.Bandwidth{Rate: rate}}
	}
	nodes := []grid.GangNode{node(1, 1e6), node(2, 1e9), node(3, 1e6)}
	got := withoutOwnTraffic(nodes, []grid.RankPlace{{Node: grid.NodeID{1}, Ranks: 1}, {Node: grid.NodeID{2}, Ranks: 1}})
	for i, want := range []float64{0, 1e9, 1e6} {
		if got[i].Link.Rate != want {
			t.Errorf("node %d: %g, want %g", i+1, got[i].Link.Rate, want)
		}
	}
	if nodes[0].Link.Rate != 1e6 {
		t.Error("what is known of a node is changed")
	}
}
