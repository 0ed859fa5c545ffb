package balance

import (
	"math"
	"testing"
	"time"

	"skep/grid"
)

// The two readings of a queue's length [4, section 3.4.4]: an idle node and one that only just works are alike to
// cb_li and not to cb_lis. Neither looks at nodes kept for another class, nor at what tasks need.
func TestClassLoad(t *testing.T) {
	g := newClusters("SL|LL|L", false)
	for k, q := range [][2]int32{{0, 0}, {0, 1}, {1, 1}, {0, 0}, {0, 0}} {
		s := &g.nodes[k]
		s.Waiting, s.Running, s.ECT, s.Ready = q[0], q[1], 50, float64(q[1])
	}
	g.nodes[4].ECT = 900
	for name, want := range map[string]int{"cb_li": 1, "cb_lis": 3} {
		if got, _ := g.place(mustMake(t, name, Config{FirstTie: true}, 1), 0, "L"); got != want {
			t.Errorf("%s: node %d, want %d", name, got, want)
		}
	}
	// The own cluster goes before others; those are in the order of the ring, or any.
	if got, _ := g.place(mustMake(t, "cb_lis", Config{FirstTie: true}, 1), 2, "L"); got != 4 {
		t.Errorf("cb_lis at cluster 2: node %d, want 4, its own", got)
	}
	seen := map[int]bool{}
	p := mustMake(t, "cb_lis", Config{}, 1)
	for range 50 {
		got, _ := g.place(p, 0, "L")
		seen[got] = true
	}
	if !seen[3] || !seen[4] || len(seen) != 2 {
		t.Errorf("cb_lis with ties at random: nodes %v, want 3 and 4", seen)
	}
}

// A node with four slots of which three are at work has less of a queue than one with its only slot at work; one
// that says nothing of its queue is judged by its time.
func TestLengthBySlots(t *testing.T) {
	g := newClusters("L|L|L", false)
	for k, n := range []int32{1, 3, 0} {
		g.nodes[k].Running, g.nodes[k].ECT, g.nodes[k].Ready = n, 1.9, 0.9
	}
	p := mustMake(t, "cb_lis", Config{}, 1)
	for k, slots := range []float64{1, 4, 1} {
		p.Note(Outcome{Kind: Rates, Node: nodeID(k), Slots: slots, Rates: []grid.Rate{{Class: "L", Mu: 1}}})
	}
	if got, _ := g.place(p, 0, "L"); got != 1 {
		t.Errorf("node %d, want the one with four slots", got)
	}
}

// Of a burst decided on the same news, with debits, each node gets its part.
func TestClassLoadDebits(t *testing.T) {
	g := newClusters("L|LL", false)
	for k := range g.nodes {
		g.nodes[k].ECT, g.nodes[k].RTT = 1, time.Millisecond
	}
	p := mustMake(t, "cb_lis", Node(), 1)
	var n [3]int
	for k := range 30 {
		got, _ := g.place(p, 0, "L")
		p.Note(Outcome{Kind: Placed, At: grid.Time(k), Node: nodeID(got), Class: "L"})
		n[got]++
	}
	if n != [3]int{10, 10, 10} {
		t.Errorf("placed %v, want ten each", n)
	}
}

// spill is one S and two L; S takes 50 s, L 1050.
func spill(t *testing.T, small, large int32) (*clusters, Policy) {
	g := newClusters("S|L|L", false)
	p := mustMake(t, "cb_spill", Config{FirstTie: true}, 1)
	for k := range g.nodes {
		p.Note(Outcome{Kind: Rates, Node: nodeID(k), Rates: []grid.Rate{{Class: "S", Mu: 1. / 50},
			{Class: "L", Mu: 1. / 1050}}})
	}
	q := []int32{small, large, 0}
	for now := grid.Time(0); now < grid.Time(100*time.Hour); now = now.Add(10 * time.Minute) {
		for k := range g.nodes {
			s := &g.nodes[k]
			s.Running, s.Waiting = min(q[k], 1), max(q[k]-1, 0)
			s.Ready = float64(q[k]) * 50
			s.ECT = s.Ready + 50
		}
		v := View{Home: g.homes[0], Nodes: g.nodes}
		t := &grid.Task{Class: "S"}
		p.Poll(now, t, v, nil)
		p.Choose(now, t, g.nodes)
	}
	return g, p
}

// A class that is overloaded may use nodes of another with empty queues, if they are sooner and the other does not soon
// need them; not before it is, and not the other way round where a long task would stand before short ones.
func TestSpill(t *testing.T) {
	choose := func(g *clusters, p Policy, class string, took float64) int {
		for k := range g.nodes {
			g.nodes[k].ECT = g.nodes[k].Ready + took
		}
		now, tk := grid.Time(100*time.Hour), &grid.Task{Class: class}
		p.Poll(now, tk, View{Home: g.homes[0], Nodes: g.nodes}, nil)
		return int(p.Choose(now, tk, g.nodes).Node[1]) - 1
	}
	g, p := spill(t, 3, 1)
	if got := choose(g, p, "S", 50); got != 2 {
		t.Errorf("S overloaded: node %d, want 2, an idle one of L", got)
	}
	g.nodes[1].Ready = 900
	g.nodes[2].Running, g.nodes[2].Ready = 1, 40
	if got := choose(g, p, "S", 50); got != 2 {
		t.Errorf("S overloaded: node %d, want 2, where one is nearly done and none waits", got)
	}
	g.nodes[2].Waiting = 1
	if got := choose(g, p, "S", 50); got != 0 {
		t.Errorf("S overloaded, one of L long busy, with the other one waits: node %d, want its own", got)
	}
	g, p = spill(t, 0, 1)
	g.nodes[0].Running = 1
	if got := choose(g, p, "S", 50); got != 0 {
		t.Errorf("S busy now and idle as a rule: node %d, want its own", got)
	}
	g, p = spill(t, 1, 0)
	if got := choose(g, p, "M", 70); got != 1 {
		t.Errorf("a class that nobody is kept for: node %d, want the soonest", got)
	}
}

// What a task that is in service counts: 70 s of 100 are behind it and 30 left.
func TestReadingsOfTheRunningTask(t *testing.T) {
	node := func(j int, ect, ran, rest float64, whole bool) State {
		return State{Node: nodeID(j), ECT: ect, Ready: ect - 10, Ran: ran, Rest: rest, Whole: whole}
	}
	for name, want := range map[string][4]float64{
		"mct":        {110, 40, 45, math.Inf(1)},
		"mct_full":   {110, 110, 45, math.Inf(1)},
		"mct_rest":   {40, 40, 45, math.Inf(1)},
		"mct_queued": {10, 10, 45, math.Inf(1)},
	} {
		states := []State{node(0, 110, 70, 30, true), node(1, 40, 70, 30, false), node(2, 45, 0, 0, true),
			node(3, math.Inf(1), 0, 0, true)}
		for k, e := range want { // alone against a node of which nothing runs
			for _, other := range []float64{e - 1, e + 1} {
				p := mustMake(t, name, Config{}, 1)
				c := p.Choose(0, task(0), []State{states[k], {Node: nodeID(9), ECT: other, Ready: other - 1}})
				if wins := c.Node == nodeID(k); wins != (other > e) {
					t.Errorf("%s: node %d, read as %g, against %g: chosen %v", name, k, e, other, wins)
				}
			}
		}
		if Detailed(mustMake(t, name, Config{}, 1)) != (name != "mct") {
			t.Errorf("%s: detailed is wrong", name)
		}
	}
}

// Spill-over starts above one threshold and stops below another: between them it goes on as it was.
func TestSpillStopsBelowItsSecondThreshold(t *testing.T) {
	g := newClusters("SSSSS|LL", false)
	p := mustMake(t, "cb_spill", Config{FirstTie: true}, 1).(*classSpill)
	now := grid.Time(0)
	for _, c := range []struct {
		running int // of five
		want    bool
	}{{5, true}, {4, true}, {3, false}, {4, false}, {5, true}} {
		for k := range g.nodes {
			g.nodes[k].Running = 0
			if k < c.running {
				g.nodes[k].Running = 1
			}
		}
		for range 3 { // a day apart: all that was before is forgotten
			now = now.Add(24 * time.Hour)
			p.watch(now, g.nodes)
		}
		if got := p.spills("S"); got != c.want {
			t.Errorf("%d of 5 nodes are busy: spills %v, want %v", c.running, got, c.want)
		}
	}
}
