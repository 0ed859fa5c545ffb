package gangs

import (
	"fmt"
	"testing"
	"time"

	"skep/grid"
)

// Of later slots all owners ask the same near nodes, each of which is the nearest to some of them, before far ones.
func TestLaterSlotsAreOfTheSameNodes(t *testing.T) {
	near, far := 2*time.Millisecond, time.Second
	for _, rtts := range [][]time.Duration{{near, 0, near, far}, {near, near, 0, far}, {0, near / 2, near, far}} {
		var nodes []grid.GangNode
		for i, d := range rtts {
			nodes = append(nodes, grid.GangNode{Node: grid.NodeID{byte(i)}, RTT: d, Backlog: d})
		}
		for ranks, want := range map[int]string{4: "[0 1]", 6: "[0 1 2]", 8: "[0 1 2 3]"} {
			var got []byte
			for _, p := range (FewestNodes{Later: true}).Choose(Size{ranks, ranks}, nodes, []int{2, 2, 2, 2}).Places {
				got = append(got, p.Node[0])
			}
			if fmt.Sprint(got) != want {
				t.Errorf("%d ranks with round trips %v: nodes %v, want %s", ranks, rtts, got, want)
			}
		}
	}
}
