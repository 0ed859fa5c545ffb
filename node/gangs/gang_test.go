package gangs

import (
	"fmt"
	"testing"
	"time"

	"skep/grid"
)

// A gang's way: every rank starts only when all have a place, and what was answered in an earlier round does not count.
func TestPhases(t *testing.T) {
	a, b := grid.NodeID{1}, grid.NodeID{2}
	g := New(7, 3)
	first := grid.Attempt{Epoch: 1, N: 1}
	g.Reserve(first, Choice{Places: []Place{{Node: a, Ranks: 2}, {Node: b, Ranks: 1}}}, 1, 10)
	for _, r := range []grid.Reserve{{Round: 0, Attempt: first, Ranks: 1}, {Round: 1, Attempt: first, Ranks: 2},
		{Round: 1, Attempt: grid.Attempt{Epoch: 1, N: 2}, Ranks: 1}} {
		if g.Kept(b, &r) || g.Kept(a, &grid.Reserve{Round: 1, Attempt: first, Ranks: 2}) {
			t.Fatalf("%+v: want that only an answer about what was asked for counts", r)
		}
	}
	if !g.Kept(b, &grid.Reserve{Round: 1, Attempt: first, Ranks: 1}) {
		t.Fatal("want that all keep their slots when the second does, in this round")
	}
	g.Offer(20)
	if g.Confirm(0) || g.Confirm(2) || g.MayRun() || !g.Confirm(1) {
		t.Fatal("want that it may start when the third rank has a place, and not before")
	}
	g.Start()
	if g.Phase() != Running || !g.MayRun() {
		t.Fatalf("%v: want that it runs", g.Phase())
	}
	g.Hold(1, &grid.Result{Exit: 0})
	g.Lost()
	if g.Phase() != Waiting || g.Result(1) != nil || g.MayRun() {
		t.Fatalf("%v: want that nothing is left of the attempt", g.Phase())
	}
	g.Reserve(grid.Attempt{Epoch: 1, N: 2}, Choice{Places: []Place{{Node: a, Ranks: 3}}}, 2, 30)
	busy := &grid.Reserve{Round: 2, Ranks: 1, Refusal: grid.Refusal{Why: grid.WhyBusy}}
	if !g.Refused(0, a, busy) || g.RoomAt(0, a) != 1 {
		t.Fatal("want that a refusal counts, and what it says of the room")
	}
	g.GiveUp()
	g.Adopt(grid.Attempt{Epoch: 2, N: 1}, 3)
	if g.Phase() != Offered || !g.MayRun() {
		t.Fatalf("%v: want that an adopted attempt may run already", g.Phase())
	}
}

// Starting without a place for each rank is an impossible state.
func TestStartNeedsAllPlaces(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("want a panic")
		}
	}()
	g := New(1, 2)
	g.Adopt(grid.Attempt{Epoch: 1, N: 1}, 2)
	g.Confirm(0)
	g.Start()
}

// The round that follows three failed ones asks for slots that are not free, and no other does; the pauses grow, and
// are drawn.
func TestPauses(t *testing.T) {
	g, r := New(1, 2), grid.NewRand(1, 1)
	last := time.Duration(0)
	for tries := range 12 {
		if g.Later() != (tries == 3 || tries == 7 || tries == 11) {
			t.Errorf("after %d rounds: later %v", tries, g.Later())
		}
		g.GiveUp()
		most := time.Duration(0)
		for range 100 {
			most = max(most, g.drawPause(r))
		}
		if most < last-200*time.Millisecond || most > 5*maxPause/4 {
			t.Errorf("after %d rounds up to %v, before %v", tries+1, most, last)
		}
		last = most
	}
}

// Few nodes, and of those that do the near ones.
func TestFewestNodes(t *testing.T) {
	node := func(i byte, rtt time.Duration) grid.GangNode { return grid.GangNode{Node: grid.NodeID{i}, RTT: rtt} }
	nodes := []grid.GangNode{node(1, 0), node(2, 20), node(3, 10), node(4, 30)}
	for _, c := range []struct {
		ranks int
		rooms []int
		want  string
	}{
		{2, []int{2, 8, 8, 8}, "1:2 "},
		{4, []int{2, 8, 8, 8}, "3:4 "},
		{9, []int{2, 4, 6, 8}, "4:8 1:1 "},
		{20, []int{2, 4, 6, 8}, "4:8 3:6 2:4 1:2 "},
		{21, []int{2, 4, 6, 8}, ""},
		{1, []int{0, 0, 0, 0}, ""},
	} {
		got := ""
		for _, p := range (FewestNodes{}).Choose(Size{c.ranks, c.ranks}, nodes, c.rooms).Places {
			got += fmt.Sprintf("%d:%d ", p.Node[0], p.Ranks)
		}
		if got != c.want {
			t.Errorf("%d ranks in %v: %q, want %q", c.ranks, c.rooms, got, c.want)
		}
	}
}

// A gang of no fixed size gets as many ranks as there is room for; one that waits for slots, the fewest.
func TestSizes(t *testing.T) {
	g, of := New(1, 6), &grid.Gang{Ranks: 6, Min: 3}
	nodes := []grid.GangNode{{Node: grid.NodeID{1}}, {Node: grid.NodeID{2}}}
	for _, c := range []struct {
		rooms []int
		want  uint32
	}{{[]int{1, 1}, 0}, {[]int{2, 1}, 3}, {[]int{2, 3}, 5}, {[]int{9, 1}, 6}, {[]int{4, 4}, 6}} {
		choice := FewestNodes{}.Choose(g.Size(of), nodes, c.rooms)
		if got := choice.Ranks(); got != c.want {
			t.Errorf("room for %v: %d ranks, want %d", c.rooms, got, c.want)
		}
	}
	for range 3 {
		g.GiveUp()
	}
	if got := g.Size(of); got != (Size{3, 3}) {
		t.Errorf("%+v: want the fewest when slots are waited for", got)
	}
}

// Ranks that an attempt does not use need no place, and have none.
func TestUnusedRanks(t *testing.T) {
	g := New(1, 4)
	g.Reserve(grid.Attempt{Epoch: 1, N: 10_002}, Choice{Places: []Place{{Node: grid.NodeID{1}, Ranks: 2}}}, 1, 10)
	if !g.Uses(3) {
		t.Error("want that any rank may be used before the attempt is made")
	}
	g.Offer(20)
	if g.Confirm(0) || !g.Confirm(1) || g.Ranks() != 2 || !g.Uses(1) || g.Uses(2) {
		t.Errorf("%d ranks: want two that suffice", g.Ranks())
	}
	g.Start()
}

// In its first round a gang asks also where no slot is free as far as is known, for the fewest ranks: not nodes that it
// may not use, and no more than they said of late. Later rounds go by what is known.
func TestFirstRoundAsks(t *testing.T) {
	four := grid.Resources{CPU: 4 * grid.CPU}
	nodes := []grid.GangNode{{Node: grid.NodeID{1}, Capacity: four}, {Node: grid.NodeID{2}, Capacity: four},
		{Node: grid.NodeID{3}, Capacity: four, Refuses: grid.Refusal{Why: grid.WhyDrain}}}
	g, of := New(1, 10), &grid.Gang{Ranks: 10, Min: 6}
	choose := func(rooms ...int) int {
		c := g.Choose(0, FewestNodes{}, of, grid.Resources{CPU: grid.CPU}, nodes, rooms)
		return int(c.Ranks())
	}
	want := func(what string, got, want int) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d ranks are asked for, want %d", what, got, want)
		}
	}
	want("enough is free", choose(4, 4, 0), 8)
	want("too little is free", choose(1, 0, 0), 6)
	g.SetRoom(grid.NodeID{2}, 1, 100)
	want("and a node said so", choose(1, 0, 0), 0)
	g.SetRoom(grid.NodeID{2}, 2, 100)
	want("or that it has enough", choose(1, 0, 0), 6)
	g.GiveUp()
	want("in the second round", choose(1, 0, 0), 0)
}

// That ranks reach each other on some ports only is said of a choice, and of no failure to choose.
func TestChoiceOnPorts(t *testing.T) {
	need, nodes := grid.Resources{CPU: grid.CPU}, []grid.GangNode{{Node: grid.NodeID{1}}}
	of := &grid.Gang{Ranks: 2, Ports: grid.Ports{80, 90}}
	const want = "fixed ports only: ranks reach each other on 80, 90"
	if c := New(1, 2).Choose(0, FewestNodes{}, of, need, nodes, []int{2}); c.Why != want {
		t.Errorf("%q: want %q", c.Why, want)
	}
	if c := New(1, 2).Choose(0, FewestNodes{}, of, need, nodes, []int{1}); c.Why != "" {
		t.Errorf("no choice: %q", c.Why)
	}
}

// Rooms are what is free, what a worker said, or for a gang that asks for later all of a node; none where it cannot
// run.
func TestRooms(t *testing.T) {
	g, need := New(1, 4), grid.Resources{CPU: grid.CPU}
	four, one := grid.Resources{CPU: 4 * grid.CPU}, grid.Resources{CPU: grid.CPU}
	nodes := []grid.GangNode{{Node: grid.NodeID{1}, Free: one, Capacity: four}, {Node: grid.NodeID{2}, Free: four,
		Capacity: four}, {Node: grid.NodeID{3}, Free: four, Capacity: four, Refuses: grid.Refusal{Why: grid.WhyGone}},
		{Node: grid.NodeID{4}, Free: four, Capacity: four}}
	g.SetRoom(grid.NodeID{2}, 2, 100)
	g.Unfit(grid.NodeID{4}, &grid.Result{Exit: 127})
	want := func(at grid.Time, text string) {
		t.Helper()
		rooms, could := g.Rooms(at, 4, need, nodes)
		if got := fmt.Sprint(rooms, could); got != text {
			t.Errorf("rooms %s, want %s", got, text)
		}
	}
	want(0, "[1 2 0 0] 8")
	want(200, "[1 4 0 0] 8")
	for range 3 {
		g.GiveUp()
	}
	want(0, "[4 4 0 0] 8")
}
