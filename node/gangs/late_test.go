package gangs

import (
	"fmt"
	"testing"

	"skep/grid"
)

// laterRounds has a gang of 4 ranks ask nodes of 2 slots for later slots, and returns which it asks in each round.
func laterRounds(rounds int, fails func(g *Gang, of []Place)) (asks []string) {
	g := New(1, 4)
	var nodes []grid.GangNode
	for i := range byte(4) {
		nodes = append(nodes, grid.GangNode{Node: grid.NodeID{i}, Capacity: grid.Resources{CPU: 2}})
	}
	for range rounds {
		g.Tries = laterAfter
		c := g.Choose(0, FewestNodes{Later: true}, &grid.Gang{Ranks: 4}, grid.Resources{CPU: 1}, nodes, []int{2, 2, 2, 2})
		g.Reserve(grid.Attempt{Epoch: 1, N: 1}, c, g.Round()+1, 1)
		var ids []byte
		for _, p := range c.Places {
			ids = append(ids, p.Node[0])
		}
		asks = append(asks, fmt.Sprint(ids))
		fails(g, c.Places)
		g.GiveUp()
		g.Rest(0, pauses)
	}
	return asks
}

// A node that has failed a round for later slots, by silence or since long work runs there, is not asked in the next
// ones until the others do not suffice.
func TestLateNodesAreLeftOut(t *testing.T) {
	refuses := func(why grid.Why) func(g *Gang, of []Place) {
		return func(g *Gang, of []Place) {
			g.Refused(0, of[0].Node, &grid.Reserve{Round: g.Round(), Refusal: grid.Refusal{Why: why}})
		}
	}
	for _, c := range []struct {
		what  string
		fails func(g *Gang, of []Place)
		want  string
	}{
		{"the first node never answers", func(g *Gang, of []Place) {
			last := of[len(of)-1]
			if of[0].Node == (grid.NodeID{}) {
				g.Kept(last.Node, &grid.Reserve{Round: g.Round(), Attempt: g.Attempt(), Ranks: last.Ranks})
			} else {
				refuses(grid.WhyReserved)(g, of)
			}
		}, "[[0 1] [1 2] [1 2] [1 2]]"},
		{"the first one asked is always busy", refuses(grid.WhyBusy), "[[0 1] [1 2] [2 3] [0 1]]"},
		{"others have the slots", refuses(grid.WhyReserved), "[[0 1] [0 1] [0 1] [0 1]]"},
	} {
		if got := fmt.Sprint(laterRounds(4, c.fails)); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// A node that says again and again that others have its slots is left out too.
func TestNodeThatAlwaysRefuses(t *testing.T) {
	first := 0
	for _, asks := range laterRounds(maxLate+5, func(g *Gang, of []Place) {
		g.Refused(0, of[0].Node, &grid.Reserve{Round: g.Round(), Refusal: grid.Refusal{Why: grid.WhyReserved}})
	}) {
		if asks == "[0 1]" {
			first++
		}
	}
	if first != maxLate {
		t.Errorf("it is asked %d times: want %d", first, maxLate)
	}
}
