package allocator

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"skep/balance/utility"
)

func by(t interface {
	Helper()
	Fatal(...any)
}, name string) *Allocator {
	t.Helper()
	f, err := utility.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return &Allocator{Function: &f}
}

// row are the ways of a task of so many cores, with an execution time on each node; 0 = it cannot run there.
func row(cores float64, alone ...float64) (ways []Way) {
	for j, e := range alone {
		if e > 0 {
			ways = append(ways, Way{Node: j, Cores: cores, Alone: e, Speedup: 1, Worth: 1})
		}
	}
	return ways
}

// idle are nodes with so many idle cores.
func idle(cores ...float64) (nodes []Node) {
	for j, c := range cores {
		nodes = append(nodes, Node{Slots: c, Idle: c, Tie: j})
	}
	return nodes
}

// begun is the nodes of the tasks that begin at once, one task a kind; −1 = it does not.
func begun(kinds []Kind, placed []Placement) []int {
	nodes := make([]int, len(kinds))
	for i := range nodes {
		nodes[i] = -1
	}
	for _, p := range placed {
		if p.Start == 0 {
			nodes[p.Kind] = p.Node
		}
	}
	return nodes
}

// Two cores: what bids 5 for both is worth more than what bids 3 for one, and less than two of those. A short task,
// which min_min places first, makes neither possible and waits.
func TestTheMostUtilityBegins(t *testing.T) {
	for _, c := range []struct {
		bids []float64
		want []int
	}{
		{[]float64{5, 3, 1}, []int{0, -1, -1}},
		{[]float64{5, 3, 3}, []int{-1, 0, 0}},
	} {
		kinds := []Kind{{Tasks: 1, Bid: c.bids[0], Ways: row(2, 10)}, {Tasks: 1, Bid: c.bids[1], Ways: row(1, 10)},
			{Tasks: 1, Bid: c.bids[2], Ways: row(1, 10)}, {Tasks: 1, Bid: 1, Ways: row(1, 2)}}
		got := begun(kinds, by(t, "um_p1").Allocate(kinds, idle(2), 0.25, 99, nil))
		if !slices.Equal(got, append(c.want, -1)) {
			t.Errorf("bids %v: nodes %v, want %v and the short task to wait", c.bids, got, c.want)
		}
	}
}

// A node with 8 cores can run one task as an option of 8 cores that is 6.5 times as fast, or four as one of 2. Options
// that are worth more are taken for what they are worth.
func TestAnOptionIsChosenForEachTask(t *testing.T) {
	for _, c := range []struct {
		tasks        int
		worth        float64
		first, other int // tasks that begin as the first option, and as the second
	}{
		{1, 1, 1, 0}, // of equal value the sooner one
		{4, 1, 0, 4},
		{4, 3, 0, 4},
		{4, 5, 1, 0},
	} {
		kinds := []Kind{{Tasks: c.tasks, Bid: 1, Ways: []Way{
			{Option: 1, Cores: 8, Alone: 10, Speedup: 6.5, Worth: c.worth},
			{Option: 2, Cores: 2, Alone: 65, Speedup: 1, Worth: 1}}}}
		var count [3]int
		for _, p := range by(t, "um_p1").Allocate(kinds, idle(8), 0.25, 99, nil) {
			if p.Start == 0 {
				count[p.Option]++
			}
		}
		if count[1] != c.first || count[2] != c.other {
			t.Errorf("%d tasks, worth %g: %d and %d begin, want %d and %d", c.tasks, c.worth, count[1], count[2], c.first,
				c.other)
		}
	}
}

// Counted resources bound how many begin, whatever cores there are.
func TestCountedResourcesAreNotGivenTwice(t *testing.T) {
	kinds := []Kind{{Tasks: 3, Bid: 1, Ways: []Way{{Cores: 1, Counted: 0.5, Alone: 10, Speedup: 1, Worth: 1}}}}
	at := 0
	for _, p := range by(t, "balanced").Allocate(kinds, idle(8), 0.25, 99, nil) {
		if p.Start == 0 {
			at++
		}
	}
	if at != 2 {
		t.Errorf("%d tasks begin, want one for each of two units", at)
	}
}

// A task of which the only function that counts says that it is worth nothing still begins on an idle node.
func TestNothingStaysIdle(t *testing.T) {
	kinds := []Kind{{Tasks: 2, Ways: row(1, 10, 10)}}
	if got := by(t, "um_p1").Allocate(kinds, idle(1, 1), 0.25, 99, nil); len(got) != 2 || got[1].Start != 0 {
		t.Errorf("placed %v, want both tasks at once", got)
	}
}

// What is done sooner behind a busy node waits for it; more of it goes to the idle node.
func TestItWaitsWhereItIsDoneSooner(t *testing.T) {
	nodes := []Node{{Ready: 1, Slots: 1}, {Slots: 1, Idle: 1}}
	kinds := []Kind{{Tasks: 2, Bid: 1, Ways: row(1, 10, 15)}}
	got := by(t, "balanced").Allocate(kinds, nodes, 0.25, 99, nil)
	if len(got) != 2 || got[0].Node != 0 || got[0].End != 11 || got[1].Node != 1 || got[1].End != 15 {
		t.Errorf("placed %v, want the first on the busy node and the second on the idle one", got)
	}
}

// A task that the knapsack would have begin where it takes for ever waits behind another that has its best node.
func TestItWaitsBehindWhatBegins(t *testing.T) {
	kinds := []Kind{{Tasks: 1, Bid: 1, Ways: row(1, 3, 600)}, {Tasks: 1, Bid: 3, Ways: row(1, 4, 600)}}
	got := by(t, "um_p1").Allocate(kinds, idle(1, 1), 0.25, 99, nil)
	if len(got) != 2 || got[0].Kind != 1 || got[0].Node != 0 || got[1].Node != 0 || got[1].End != 7 {
		t.Errorf("placed %v, want the higher bid on the fast node and the other behind it", got)
	}
}

// The first of a kind that has waited for long bids more, and it alone: no flood of higher bids keeps it for ever.
func TestTheFirstOfAKindAges(t *testing.T) {
	kinds := []Kind{{Tasks: 9, Bid: 3, Ways: row(1, 10)}, {Tasks: 9, Bid: 1, Aged: 4, Ways: row(1, 10)}}
	got := by(t, "um_p1").Allocate(kinds, idle(3), 0.25, 99, nil)
	var of []int
	for _, p := range got {
		if p.Start == 0 {
			of = append(of, p.Kind)
		}
	}
	if slices.Sort(of); !slices.Equal(of, []int{0, 0, 1}) {
		t.Errorf("kinds %v begin, want two of the higher bid and one that has aged", of)
	}
}

// No choice of what begins has more utility, to the thousandth within which the sooner way is taken, and none takes
// more than there is.
func TestAgainstExhaustiveSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var nodes []Node
		for j := range rapid.IntRange(1, 3).Draw(t, "nodes") {
			c := float64(rapid.IntRange(1, 4).Draw(t, "cores"))
			nodes = append(nodes, Node{Slots: c, Idle: c, Tie: j})
		}
		var kinds []Kind
		for range rapid.IntRange(1, 6).Draw(t, "tasks") {
			k := Kind{Tasks: 1, Bid: float64(rapid.IntRange(1, 9).Draw(t, "bid")),
				Waited: float64(rapid.IntRange(0, 30).Draw(t, "waited"))}
			for j := range nodes {
				for o := range rapid.IntRange(0, 2).Draw(t, "ways") {
					k.Ways = append(k.Ways, Way{Node: j, Option: uint8(o + 1), Speedup: 1, Worth: 1 + float64(o),
						Cores: float64(rapid.IntRange(1, 4).Draw(t, "needs")),
						Alone: float64(rapid.IntRange(1, 20).Draw(t, "alone"))})
				}
			}
			kinds = append(kinds, k)
		}
		name := rapid.SampledFrom([]string{"um_p1", "um_p2", "um_p4", "balanced", "credit:0.6"}).Draw(t, "function")
		a := by(t, name)
		a.kinds, a.nodes, a.room = kinds, slices.Clone(nodes), budget{99, 99}
		for j := range a.nodes {
			a.nodes[j].begin()
		}
		a.value()
		a.choose()
		got, free := 0.0, make([]float64, len(nodes))
		for j := range nodes {
			free[j] = nodes[j].Idle
		}
		for _, p := range a.picks {
			got, free[p.way.Node] = got+p.way.first, free[p.way.Node]-p.way.Cores
			if free[p.way.Node] < 0 {
				t.Fatalf("%v takes more than is idle", p)
			}
		}
		for j := range nodes {
			free[j] = nodes[j].Idle
		}
		if most := exhaustive(kinds, free); got < most/(1+near)-1e-9 {
			t.Fatalf("utility %g, want %g", got, most)
		}
	})
}

func exhaustive(kinds []Kind, free []float64) (most float64) {
	if len(kinds) == 0 {
		return 0
	}
	most = exhaustive(kinds[1:], free)
	for x := range kinds[0].Ways {
		if w := &kinds[0].Ways[x]; w.Cores <= free[w.Node] {
			free[w.Node] -= w.Cores
			most = max(most, w.first+exhaustive(kinds[1:], free))
			free[w.Node] += w.Cores
		}
	}
	return most
}

// No cycle allocates once its memory has grown.
func TestCyclesDoNotAllocate(t *testing.T) {
	a, nodes, kinds := by(t, "balanced"), idle(4, 4, 2, 1), make([]Kind, 20)
	var dst []Placement
	fresh := slices.Clone(nodes)
	for i := range kinds {
		kinds[i] = Kind{Tasks: 3, Bid: float64(i%5 + 1), Ways: row(float64(i%2+1), 5, 7, 9, 11+float64(i))}
	}
	cycle := func() {
		copy(nodes, fresh)
		dst = a.Allocate(kinds, nodes, 0.25, 64, dst[:0])
	}
	cycle()
	if n := testing.AllocsPerRun(20, cycle); n != 0 {
		t.Errorf("%g allocations for each cycle, want none", n)
	}
}

// The largest cycle of a node, 256 tasks that could begin on 256 nodes as each of 8 options, is bounded.
func BenchmarkLargestCycle(b *testing.B) {
	a, nodes, kinds := by(b, "balanced"), make([]Node, 256), make([]Kind, 128)
	for i := range kinds {
		kinds[i] = Kind{Tasks: 1024, Bid: float64(i%7 + 1)}
		for j := range nodes {
			for o := range 8 {
				kinds[i].Ways = append(kinds[i].Ways, Way{Node: j, Option: uint8(o + 1), Cores: float64(o%4 + 1),
					Alone: float64(5+(i*31+j*17+o*7)%97) / float64(o+1), Speedup: float64(o + 1), Worth: 1})
			}
		}
	}
	for b.Loop() {
		for j := range nodes {
			nodes[j] = Node{Slots: 4, Idle: 4, Tie: j}
		}
		a.Allocate(kinds, nodes, 0.25, 256, nil)
	}
}
