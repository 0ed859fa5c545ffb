package schedule

import (
	"fmt"
	"math"
	"reflect"
	"slices"
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
	return c.Choose(gangs.Size{Min: ranks, Max: ranks}, nodes, rooms)
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
	if want := 72 * 4000 * 1000 / ReferenceWork; c.Time < want || c.Time > 1.05*want {
		t.Errorf("%g s an iteration, want %g and two messages", c.Time, want)
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
	// Of the site in the middle the slowest ranks are at both ends: those of node 3.
	nodes := []grid.GangNode{node(1, 1, 0), node(2, 2, 0.1), node(3, 1, 0.1), node(4, 2, 0.2)}
	rooms := []int{2, 3, 2, 1}
	c := choose(t, life(1000), 8, nodes, rooms...)
	seen, sum, told := map[grid.NodeID]bool{}, uint32(0), []string{}
	for _, p := range c.Places {
		if seen[p.Node] || int(p.Ranks) > rooms[p.Node[0]-1] || len(p.Shares) != int(p.Ranks) {
			t.Errorf("%+v", p)
		}
		seen[p.Node] = true
		for _, x := range p.Shares {
			sum, told = sum+x, append(told, fmt.Sprint(x))
		}
	}
	if !strings.Contains(c.Why, "shares "+strings.Join(told, ", ")+";") {
		t.Errorf("it says %q, want the shares by rank: %v", c.Why, told)
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

// whole fails a test unless the shares of a choice are all of the work.
func whole(t *testing.T, c gangs.Choice, units uint32) {
	t.Helper()
	sum := uint32(0)
	for _, p := range c.Places {
		for _, x := range p.Shares {
			sum += x
		}
	}
	if c.Places != nil && sum != units {
		t.Errorf("shares of %d of %d units: %+v", sum, units, c)
	}
}

// A table's times are those of nodes of speed 1, unless it says otherwise.
func TestTimesOfATable(t *testing.T) {
	s := &grid.ScheduleSearch{Model: "table", Parameters: []grid.Parameter{{Name: "units", Value: 100}},
		Measured: []grid.Measured{{Ranks: 2, Compute: 3, Message: 0.5}}}
	for speed, want := range map[float64]float64{1: 3.5, 2: 2} {
		c := choose(t, s, 2, []grid.GangNode{node(1, speed, 0), node(2, speed, 0)}, 1, 1)
		if math.Abs(c.Time-want) > 1e-9 {
			t.Errorf("nodes of speed %g: %g s, want %g", speed, c.Time, want)
		}
	}
	s.Parameters = append([]grid.Parameter{{Name: "speed", Value: 6e9}}, s.Parameters...)
	if c := choose(t, s, 2, []grid.GangNode{node(1, 1, 0), node(2, 1, 0)}, 1, 1); math.Abs(c.Time-6.5) > 1e-9 {
		t.Errorf("measured at speed 2: %g s, want 6.5", c.Time)
	}
}

// However small or far apart times are, there is a choice of all of the work or a reason.
func TestTimesOfAnySize(t *testing.T) {
	for _, cost := range []float64{5e-324, 1e-310, 1e-30, 1e17} {
		s := &grid.ScheduleSearch{Model: "life", Parameters: []grid.Parameter{{Name: "n", Value: 1 << 30},
			{Name: "point_cost", Value: cost}, {Name: "point_memory"}, {Name: "value_bytes", Value: 1e9}}}
		whole(t, choose(t, s, 2, []grid.GangNode{node(1, 1, 0), node(2, 1, 0)}, 2, 2), 1<<30)
	}
	for _, mapper := range []string{"", "equal", "time_balance"} {
		s := &grid.ScheduleSearch{Model: "table", Parameters: []grid.Parameter{{Name: "units", Value: 62}}, Mapper: mapper,
			Measured: []grid.Measured{{Ranks: 1, Compute: 48}, {Ranks: 3, Compute: 5.7e-6, Message: 73}}}
		whole(t, choose(t, s, 3, []grid.GangNode{node(1, 1, 0), node(2, 1.3, 0)}, 2, 2), 62)
	}
}

// The model of memory alone takes equal shares, and says so where others are asked for.
func TestMemoryAlone(t *testing.T) {
	s := &grid.ScheduleSearch{Model: "memory", Parameters: []grid.Parameter{{Name: "unit_memory", Value: 1e6},
		{Name: "units", Value: 900}}}
	c := choose(t, s, 2, []grid.GangNode{node(1, 1, 0), node(2, 5, 0)}, 1, 1)
	if whole(t, c, 900); c.Places == nil || c.Time != 0 || strings.Contains(c.Why, "iteration") {
		t.Errorf("%+v", c)
	}
	s.Mapper = "min_max"
	if _, err := New(s); err == nil || !strings.Contains(err.Error(), "want equal") {
		t.Errorf("min_max with a model that knows no times: %v", err)
	}
}

// Of very many places the search looks at some: the fastest, and those with most memory.
func TestPlacesAreBounded(t *testing.T) {
	var nodes []grid.GangNode
	var rooms []int
	for i := range 256 {
		n := node(byte(i), 1+float64(i%7), 0)
		n.Node[1] = 1
		nodes, rooms = append(nodes, n), append(rooms, 1024)
	}
	nodes[200].Speed, nodes[201].Free.Memory = 50, 900*grid.GiB
	of := considered(1024, nodes, rooms)
	if len(of) > 4 || !slices.Contains(of, 200) || !slices.Contains(of, 201) {
		t.Errorf("looks at %v", of)
	}
	if of := considered(4, nodes[:100], slices.Repeat([]int{1}, 100)); len(of) != 100 {
		t.Errorf("looks at %d of 100", len(of))
	}
}
