package schedule

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"skep/grid"
	"skep/node/gangs"
)

func life(n float64) *grid.ScheduleSearch {
	return &grid.ScheduleSearch{Model: "life", Parameters: []grid.Parameter{{Name: "n", Value: n}}, Conserve: 0.05}
}

// node has a speed and a place on a line, in seconds.
func node(id byte, speed float64, at float32) grid.GangNode {
	return grid.GangNode{Node: grid.NodeID{id}, Free: grid.Resources{CPU: 4 * grid.CPU, Memory: 8 * grid.GiB},
		Speed: speed,
		Coord: grid.Coord{At: [3]float32{at}, Height: 1e-5, Error: 0.1}, News: time.Duration(id) * time.Second}
}

func choose(t *testing.T, s *grid.ScheduleSearch, ranks int, nodes []grid.GangNode, rooms ...int) gangs.Choice {
	t.Helper()
	c, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return c.Choose(ranks, nodes, rooms)
}

// Shares are as the speeds of the ranks' nodes, and all of the work is given out.
func TestSharesFitSpeeds(t *testing.T) {
	nodes := []grid.GangNode{node(1, 1, 0), node(2, 3, 0)}
	c := choose(t, life(4000), 2, nodes, 1, 1)
	shares := map[grid.NodeID]uint32{}
	for _, p := range c.Places {
		if p.Ranks != 1 || len(p.Shares) != 1 {
			t.Fatalf("%+v, want a rank at each node", c.Places)
		}
		shares[p.Node] = p.Shares[0]
	}
	if slow, fast := shares[grid.NodeID{1}], shares[grid.NodeID{2}]; slow+fast != 4000 || slow < 980 || slow > 1020 {
		t.Errorf("shares %v, want about 1000 and 3000", shares)
	}
	if !strings.Contains(c.Why, "s an iteration") || !strings.Contains(c.Why, "news up to 2.0 s old") {
		t.Errorf("it says %q", c.Why)
	}
}

// The faster nodes are taken, and a node in another town only where its speed is worth the messages.
func TestNodesThatAreTaken(t *testing.T) {
	for name, c := range map[string]struct {
		nodes []grid.GangNode
		want  []grid.NodeID
	}{
		"fast":        {[]grid.GangNode{node(1, 1, 0), node(2, 4, 0), node(3, 4, 0)}, []grid.NodeID{{2}, {3}}},
		"near":        {[]grid.GangNode{node(1, 1, 0), node(2, 1, 0), node(3, 1.1, 0.2)}, []grid.NodeID{{1}, {2}}},
		"far but few": {[]grid.GangNode{node(1, 1, 0), node(3, 9, 0.2)}, []grid.NodeID{{1}, {3}}},
	} {
		got := map[grid.NodeID]bool{}
		for _, p := range choose(t, life(200), 2, c.nodes, 1, 1, 1).Places {
			got[p.Node] = true
		}
		want := map[grid.NodeID]bool{}
		for _, id := range c.want {
			want[id] = true
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// Ranks of one node are next to each other, and none has more than its room.
func TestRanksOfANodeAreTogether(t *testing.T) {
	nodes := []grid.GangNode{node(1, 1, 0), node(2, 2, 0), node(3, 1, 0.1), node(4, 2, 0.1)}
	rooms := []int{2, 3, 1, 2}
	c := choose(t, life(1000), 8, nodes, rooms...)
	seen, sum := map[grid.NodeID]bool{}, uint32(0)
	for _, p := range c.Places {
		if seen[p.Node] || int(p.Ranks) > rooms[p.Node[0]-1] || len(p.Shares) != int(p.Ranks) {
			t.Errorf("%+v", p)
		}
		seen[p.Node] = true
		for _, x := range p.Shares {
			sum += x
		}
	}
	if sum != 1000 || len(seen) != 4 {
		t.Errorf("%d rows at %d nodes, want 1000 at 4", sum, len(seen))
	}
}

// What cannot be says why: too few slots, or no memory that holds the work; an unknown model names those there are.
func TestNothingFits(t *testing.T) {
	nodes := []grid.GangNode{node(1, 1, 0), node(2, 1, 0)}
	if c := choose(t, life(1000), 4, nodes, 1, 1); c.Places != nil || !strings.Contains(c.Why, "2 free slots") {
		t.Errorf("%+v", c)
	}
	if c := choose(t, life(100_000), 2, nodes, 1, 1); c.Places != nil || !strings.Contains(c.Why, "memory") {
		t.Errorf("%+v", c)
	}
	for _, s := range []*grid.ScheduleSearch{{Model: "lif"}, {Model: "life"},
		{Model: "life", Parameters: life(9).Parameters, Mapper: "even"}} {
		if _, err := New(s); err == nil || !strings.Contains(err.Error(), "want") {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
