package balance

import (
	"slices"
	"testing"
)

// The nodes get tasks in turn, those that are idle, and the turn goes on where it was.
func TestRoundRobinGoesInTurn(t *testing.T) {
	p := mustMake(t, "rr_replicated", Config{}, 1).(Copier)
	if p.Copies() != 2 {
		t.Errorf("%d copies, want 2", p.Copies())
	}
	idle := []State{{Node: nodeID(0), ECT: 9}, {Node: nodeID(1), ECT: 5}, {Node: nodeID(2), ECT: 1}}
	for k, want := range [][]int{{1, 2}, {3, 1}, {2, 3}} {
		if got := assigned(p.Assign(0, array(0, 0), idle, nil)); !slices.Equal(got, want) {
			t.Errorf("round %d: nodes %v, want %v", k+1, got, want)
		}
	}
	busy := slices.Clone(idle)
	busy[0].Ready = 3
	if got := assigned(p.Assign(0, array(0, 0, 0), busy, nil)); !slices.Equal(got, []int{2, 3, 0}) {
		t.Errorf("with the first busy: nodes %v, want 2, 3 and a task that waits", got)
	}
}
