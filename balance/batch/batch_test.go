package batch

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

var inf = math.Inf(1)

// kindsOf makes a kind of one task for each row of a table of execution times; a comes first.
func kindsOf(e [][]float64) (kinds []Kind) {
	for i := range e {
		kinds = append(kinds, Kind{Tasks: 1, Ranks: []int{i}, Alone: e[i]})
	}
	return kinds
}

// machines are nodes that run one task after the other, ready at times; those left out are ready now.
func machines(n int, ready ...float64) []Node {
	nodes := make([]Node, n)
	for j := range nodes {
		nodes[j] = Node{Slots: 1, Cluster: j}
		if j < len(ready) {
			nodes[j].Ready = ready[j]
		}
	}
	return nodes
}

// text is placements in the order in which they were made: kind, node, and when it ends.
func text(placed []Placement) string {
	var out []string
	for _, x := range placed {
		out = append(out, fmt.Sprintf("%c%d@%g", 'a'+x.Kind, x.Node+1, x.End))
	}
	return strings.Join(out, " ")
}

func mapped(m Mapper, kinds []Kind, nodes []Node) string {
	return text(m.Map(kinds, nodes, inf, math.MaxInt, nil))
}

// What each heuristic does with tables that were worked out by hand: which task is placed when, where, and when it
// ends.
func TestHeuristicsByHand(t *testing.T) {
	three := [][]float64{{4, 6}, {3, 8}, {5, 5.5}}
	for _, c := range []struct {
		name  string
		rule  Rule
		e     [][]float64
		ready []float64
		want  string
	}{
		// C = 4, 3, 5: b on 1. Then C = 6, 5.5, both on 2: c. Then a ends at 7 on 1, at 11.5 on 2.
		{"min-min", MinMin, three, nil, "b1@3 c2@5.5 a1@7"},
		// C = 4, 3, 5: c on 1. Then 9 or 6, 8 or 8: b on 1, the first of equal ones. Then 12 or 6: a on 2.
		{"max-min", MaxMin, three, nil, "c1@5 b1@8 a2@6"},
		// D − C = 2, 5, 0.5: b on 1. Then 7 − 6 and 8 − 5.5: c on 2. Then a.
		{"sufferage", Sufferage, three, nil, "b1@3 c2@5.5 a1@7"},
		// The difference counts, not the second best: a loses 0.5 of 10.5, b loses 4 of 5.
		{"sufferage by difference", Sufferage, [][]float64{{10, 10.5}, {1, 5}}, nil, "b1@1 a2@10.5"},
		// With one machine no task loses anything by going elsewhere, and they go in the order in which they came.
		{"sufferage of one machine", Sufferage, [][]float64{{3}, {1}, {2}}, nil, "a1@3 b1@4 c1@6"},
		// Many short tasks and a long one: max-min starts the long one first and is done at 10, min-min last, at 12.
		{"max-min, few long", MaxMin, [][]float64{{2, 2}, {2, 2}, {2, 2}, {10, 10}}, nil, "d1@10 a2@2 b2@4 c2@6"},
		{"min-min, few long", MinMin, [][]float64{{2, 2}, {2, 2}, {2, 2}, {10, 10}}, nil, "a1@2 b2@2 c1@4 d2@12"},
		// b runs on 1 alone and goes first, though a is shorter there.
		{"QoS-min-min", QoSMinMin, [][]float64{{1, 4}, {4, inf}}, nil, "b1@4 a2@4"},
		{"min-min, not guided", MinMin, [][]float64{{1, 4}, {4, inf}}, nil, "a1@1 b1@5"},
		// b and c, which run on 1 alone, by min-min: c, b. Then a and d, which run anywhere, by min-min: d, a.
		{"QoS-min-min within a level", QoSMinMin, [][]float64{{1, 4}, {4, inf}, {3, inf}, {2, 2}}, nil,
			"c1@3 b1@7 d2@2 a2@6"},
		// By size 6, 5.5, 5: b on 1, c on 2, a where it ends first, at 11 on 1 and 14.6 on 2.
		{"DFPLTF", DFPLTF, [][]float64{{5, 9}, {6, 7}, {5.5, 5.6}}, nil, "b1@6 c2@5.6 a1@11"},
		// Max-min takes a second, which would end at 9 now.
		{"max-min on the same", MaxMin, [][]float64{{5, 9}, {6, 7}, {5.5, 5.6}}, nil, "b1@6 a2@9 c1@11.5"},
		// What a machine has to do already counts.
		{"min-min, 1 not ready", MinMin, [][]float64{{1, 2}, {1, 2}}, []float64{3.5}, "a2@2 b2@4"},
		{"min-min, one machine that is not ready", MinMin, [][]float64{{1}, {2}}, []float64{3}, "a1@4 b1@6"},
		// Nobody can run a; it is left out, and not in the way.
		{"max-min, one unfit", MaxMin, [][]float64{{inf, inf}, {1, 2}}, nil, "b1@1"},
	} {
		if got := mapped(Mapper{Rule: c.rule}, kindsOf(c.e), machines(len(c.e[0]), c.ready...)); got != c.want {
			t.Errorf("%s of %v: %s, want %s", c.name, c.e, got, c.want)
		}
	}
}

// Of nodes that complete a task at the same time the first is taken, or whom Prefers names; it hears how many there
// are so far.
func TestTiesOfNodes(t *testing.T) {
	e := [][]float64{{5, 3, 3, 3}}
	if got := mapped(Mapper{Rule: MinMin}, kindsOf(e), machines(4)); got != "a2@3" {
		t.Errorf("%s, want the first of equal ones", got)
	}
	var heard []int
	last := func(_, _, nth int) bool { heard = append(heard, nth); return true }
	if got := mapped(Mapper{Rule: MinMin, Prefers: last}, kindsOf(e), machines(4)); got != "a4@3" {
		t.Errorf("%s, want the one that is preferred", got)
	}
	if !slices.Equal(heard, []int{2, 3}) {
		t.Errorf("asked of the %v, want of the second and the third", heard)
	}
}

// A tie makes the sufferage 0, whichever of the equal ones is taken.
func TestATieIsNoSufferage(t *testing.T) {
	for _, prefers := range []bool{false, true} {
		m := Mapper{Rule: Sufferage, Prefers: func(_, _, _ int) bool { return prefers }}
		k := kindsOf([][]float64{{3, 3, 9}, {2, 3, 9}})
		if got := mapped(m, k, machines(3))[:4]; got != "b1@2" {
			t.Errorf("preferred %v: %s first, want b, which loses 1", prefers, got)
		}
	}
}

// What a task loses changes with each placement on its best node, and on its second best: once b is placed a loses more
// than c, whether b went to the one of a's two equal nodes that a is not to get, or to a's second best.
func TestSufferageFollowsBothNodes(t *testing.T) {
	last := Mapper{Rule: Sufferage, Prefers: func(_, _, _ int) bool { return true }}
	tied := [][]float64{{3, 3, 9, 9}, {2, inf, inf, inf}, {inf, inf, 1, 2}}
	if got := mapped(last, kindsOf(tied), machines(4)); got != "b1@2 a2@3 c3@1" {
		t.Errorf("%s, want a to lose 2 once node 1 is taken", got)
	}
	second := [][]float64{{3, 5, 9, 9}, {inf, 4, inf, inf}, {inf, inf, 1, 5}}
	if got := mapped(Mapper{Rule: Sufferage}, kindsOf(second), machines(4)); got != "b2@4 a1@3 c3@1" {
		t.Errorf("%s, want a to lose 6 once node 2 is taken", got)
	}
}

// Of tasks with the same priority the one that came first is placed first.
func TestTiesOfTasks(t *testing.T) {
	k := kindsOf([][]float64{{2, 2}, {2, 2}, {2, 2}})
	k[0].Ranks, k[1].Ranks, k[2].Ranks = []int{2}, []int{0}, []int{1}
	if got := mapped(Mapper{Rule: MinMin}, k, machines(2)); got != "b1@2 c2@2 a1@4" {
		t.Errorf("%s, want b, c, a: the order in which they came", got)
	}
}

// a = max(0.1, 1 − age/T), and 1 without ageing.
func TestAgeingFactor(t *testing.T) {
	for _, c := range []struct{ age, t, want float64 }{{5, 0, 1}, {0, 10, 1}, {5, 10, 0.5}, {9, 10, 0.1}, {100, 10, 0.1},
		{-5, 10, 1}} {
		if got := ageing(c.age, c.t); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("age %g of %g: %g, want %g", c.age, c.t, got, c.want)
		}
	}
}

// A task that has waited goes before one that would go first: its completion time counts for less where the least is
// taken, and for more where the largest is.
func TestAgeingPromotes(t *testing.T) {
	for _, c := range []struct {
		name     string
		rule     Rule
		e        [][]float64
		young, t string
	}{
		{"min-min", MinMin, [][]float64{{4, 9}, {3, 9}}, "b1@3", "a1@4"},
		{"max-min", MaxMin, [][]float64{{3, 9}, {4, 9}}, "b1@4", "a1@3"},
		{"sufferage", Sufferage, [][]float64{{3, 4}, {3, 5}}, "b1@3", "a1@3"},
		{"DFPLTF", DFPLTF, [][]float64{{3, 9}, {4, 9}}, "b1@4", "a1@3"},
		{"QoS-min-min", QoSMinMin, [][]float64{{4, 9}, {3, 9}}, "b1@3", "a1@4"},
	} {
		for age, want := range map[float64]string{0: c.young, 6: c.t} {
			k := kindsOf(c.e)
			k[0].Ages = []float64{age}
			if got := mapped(Mapper{Rule: c.rule, Ageing: 10}, k, machines(2)); !strings.HasPrefix(got, want) {
				t.Errorf("%s, a has waited for %g of 10: %s, want %s first", c.name, age, got, want)
			}
		}
	}
}

// The age that counts is that of the kind's next task: once the old one is placed the others go by their own ages.
func TestAgeIsOfTheNextTask(t *testing.T) {
	k := []Kind{{Tasks: 3, Ages: []float64{9, 0}, Alone: []float64{4}}, {Tasks: 1, Alone: []float64{3}}}
	if got := mapped(Mapper{Rule: MinMin, Ageing: 10}, k, machines(1)); got != "a1@4 b1@7 a1@11 a1@15" {
		t.Errorf("%s, want the old a, then b, then those that came with it", got)
	}
}

// What begins after the time up to which is mapped gets no place, and it is told when it would be done and when the
// first node is ready for it.
func TestOnlyWhatBeginsSoonIsMapped(t *testing.T) {
	m := Mapper{Rule: MinMin}
	k := []Kind{{Tasks: 5, Alone: []float64{3, 4}}, {Tasks: 1, Alone: []float64{inf, inf}}}
	placed := m.Map(k, machines(2), 3, math.MaxInt, nil)
	if got := text(placed); got != "a1@3 a2@4 a1@6" {
		t.Errorf("%s, want the three that begin by 3", got)
	}
	left, end := m.Left(0)
	if left != 2 || end != 8 || m.Next() != 4 {
		t.Errorf("%d left, the next done at %g, a node ready at %g; want 2, 8 on the second, which is ready at 4", left, end,
			m.Next())
	}
	if left, end := m.Left(1); left != 1 || !math.IsInf(end, 1) {
		t.Errorf("of what nobody can run %d are left and done at %g, want 1 and never", left, end)
	}
	k[0].done = 0
	if got := text(m.Map(k, machines(2), inf, 2, nil)); got != "a1@3 a2@4" {
		t.Errorf("%s, want the two that may be placed", got)
	}
}

// A flood for a few nodes leaves places for what other nodes start now, whether it goes first by bid or by rule.
func TestFloodOfAFewNodesLeavesTheOthersPlaces(t *testing.T) {
	for name, rule := range rules {
		for _, bid := range []float64{1, 8} {
			flood := Kind{Tasks: 1000, Alone: []float64{9, inf, inf}, Bid: bid}
			k := []Kind{flood, {Tasks: 9, Alone: []float64{inf, 3, 3}, Bid: 1}}
			placed := (&Mapper{Rule: rule}).Map(k, machines(3), 4, 256, nil)
			var now, soon [2]int
			for _, x := range placed {
				if x.Free <= 0 {
					now[x.Kind]++
				}
				if x.Free <= 4 {
					soon[x.Kind]++
				}
			}
			if now != [2]int{1, 2} || soon != [2]int{1, 4} {
				t.Errorf("%s, the flood bids %g: %v begin now and %v by 4, want 1 and 2, 1 and 4", name, bid, now, soon)
			}
			if len(placed)-soon[0]-soon[1] > 256 {
				t.Errorf("%s: %d places, want at most 256 that begin after 4", name, len(placed))
			}
		}
	}
}

// The bound is of what begins by then, and of the rest: a task that is better off on a node that is busy stays with it
// until that is booked for so long that an idle slow one is sooner.
func TestBoundOfPlacementsThatBeginLater(t *testing.T) {
	for most, want := range map[int]string{1: "a1@6", 2: "a1@6 a1@7", 5: "a1@6 a1@7 a1@8 a2@8.5"} {
		k := []Kind{{Tasks: 20, Alone: []float64{1, 8.5}}}
		if got := text((&Mapper{Rule: MinMin}).Map(k, machines(2, 5), 1, most, nil)); got != want {
			t.Errorf("%d places later: %s, want %s", most, got, want)
		}
	}
}

// A node starts as many tasks as it has idle slots at once, and then one each time that 1/s of its work is done.
func TestSlots(t *testing.T) {
	n := []Node{{Slots: 2, Idle: 2}}
	m := Mapper{Rule: MinMin}
	placed := m.Map([]Kind{{Tasks: 4, Alone: []float64{6}}}, n, inf, math.MaxInt, nil)
	var starts []float64
	for _, x := range placed {
		starts = append(starts, x.Start)
	}
	if !slices.Equal(starts, []float64{0, 0, 6, 9}) {
		t.Errorf("starts at %v, want two at once, and then at 6 and 9, when 12 and 18 slot-seconds are shared by two", starts)
	}
}

// shared is tasks of one second that need a file, and two clusters of two hosts each, of which the first has it.
func shared(tasks int, fetch float64) ([]Kind, []Node) {
	k := []Kind{{Tasks: tasks, Alone: []float64{1, 1, 1, 1}, Fetch: []float64{0, 0, fetch, fetch}, Input: 1}}
	n := machines(4)
	for j := range n {
		n[j].Cluster = j / 2
	}
	return k, n
}

// Tasks run beside the file until that queue is as long as the transfer. Sufferage, to which a file is nothing, spreads
// them.
func TestTasksStayBesideTheirFile(t *testing.T) {
	count := func(m Mapper) (beside int) {
		k, n := shared(24, 10)
		for _, x := range m.Map(k, n, inf, math.MaxInt, nil) {
			if x.Node < 2 {
				beside++
			}
		}
		return beside
	}
	if got := count(Mapper{Rule: Sufferage, Clusters: true}); got < 20 || got > 22 {
		t.Errorf("%d of 24 beside the file, want the 20 of the first 10 s, and half of the others", got)
	}
	if got := count(Mapper{Rule: Sufferage}); got != 12 {
		t.Errorf("%d of 24 beside the file, want half", got)
	}
}

// Two equal hosts beside the file make a task's sufferage 0 by nodes, so that another goes first; by clusters it is the
// transfer.
func TestSufferageBetweenClusters(t *testing.T) {
	for _, e := range [][]float64{{1, 1, 1, 1}, {1, 2, 1, 1}} { // the other host beside the file is as fast, or slower
		for clusters, want := range map[bool]string{false: "b", true: "a"} {
			k, n := shared(1, 10)
			k[0].Alone = e
			k = append(k, Kind{Tasks: 1, Alone: []float64{1, 3, 5, 5}, Fetch: make([]float64, 4)})
			if got := mapped(Mapper{Rule: Sufferage, Clusters: clusters}, k, n); got[:1] != want {
				t.Errorf("a takes %v, clusters %v: %s, want %s first", e, clusters, got, want)
			}
		}
	}
}

// What one task has had brought to a cluster is there for the next that needs the same, and not for those that need
// something else.
func TestWhatWasBroughtIsThere(t *testing.T) {
	n := machines(3)
	n[2].Cluster = 1
	k := []Kind{{Tasks: 1, Alone: []float64{inf, 2, inf}, Fetch: []float64{0, 10, 10}, Input: 1},
		{Tasks: 1, Alone: []float64{inf, 2, inf}, Fetch: []float64{0, 15, 15}, Input: 1},
		{Tasks: 1, Alone: []float64{inf, inf, 3}, Fetch: []float64{0, 15, 15}, Input: 1},
		{Tasks: 1, Alone: []float64{inf, 2, inf}, Fetch: []float64{0, 20, 20}, Input: 2}}
	m := Mapper{Rule: MinMin, Clusters: true}
	if got := mapped(m, k, n); got != "a2@12 c3@13 b2@14 d2@22" {
		t.Errorf("%s, want b as soon as a is done, c beside it when the file is there at 10, d when its own is at 20", got)
	}
}
