package balance

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"skep/grid"
)

func two(small, large, part float64) []Demand {
	return []Demand{{"S", part, small}, {"L", 1 - part, large}}
}

func told(a []Allotment) string {
	var out []string
	for _, x := range a {
		out = append(out, fmt.Sprint(x.Nodes, strings.Join(x.Classes, "+")))
	}
	return strings.Join(out, " ")
}

// Every division of nodes that [4, sections 4.2 to 4.9] prints.
func TestAllotAsPrinted(t *testing.T) {
	usual := two(50, 1050, 0.95)
	for _, c := range []struct {
		where string
		n     int
		d     []Demand
		want  string
	}{
		{"4.2", 2, usual, "1S 1L"},
		{"4.3.1", 3, usual, "1S 2L"},
		{"4.3.2", 4, usual, "2S 2L"},
		{"4.3.3 and 4.4.1", 6, usual, "3S 3L"},
		{"4.4.2", 12, usual, "6S 6L"},
		{"4.5", 12, []Demand{{"L", 0.025, 1075}, {"S", 0.95, 50}, {"M", 0.025, 1025}}, "6S 3M 3L"},
		{"4.6, COV 1.09", 3, two(75, 575, 0.95), "2S 1L"},
		{"4.6, COV 1.5", 3, two(70, 670, 0.95), "2S 1L"},
		{"4.6, COV 2.94", 3, two(32.5, 1382.5, 0.95), "1S 2L"},
		{"4.6, COV 3.41", 3, two(32.5, 1382.5, 0.95), "1S 2L"},
		{"4.7", 3, two(100, 2100, 0.95), "1S 2L"},
	} {
		if got := told(Allot(c.n, c.d)); got != c.want {
			t.Errorf("%s: %s, want %s", c.where, got, c.want)
		}
	}
}

func TestAllotEdges(t *testing.T) {
	three := []Demand{{"S", 1, 1}, {"M", 1, 9}, {"L", 1, 10}}
	for _, c := range []struct {
		n    int
		d    []Demand
		want string
	}{
		{0, three, ""}, {3, nil, ""},
		{1, three, "1S+M+L"},
		{2, three, "1S 1M+L"}, // nine to ten are nearer than one to nine
		{3, three, "1S 1M 1L"},
		{5, []Demand{{"S", 0, 1}, {"L", 1, 10}}, "1S 4L"},
		{3, []Demand{{"S", 0, 1}, {"L", 0, 10}}, "2S 1L"},
		{4, []Demand{{"S", math.NaN(), 1}, {"L", math.Inf(1), 10}, {"M", 1, 2}}, "1S 2M 1L"},
	} {
		if got := told(Allot(c.n, c.d)); got != c.want {
			t.Errorf("%d nodes for %v: %s, want %s", c.n, c.d, got, c.want)
		}
	}
}

// The dumb twin tries every division.
func TestAllotAgainstAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 14).Draw(t, "nodes")
		d := []Demand{{"a", 0, 1}, {"b", 0, 2}, {"c", 0, 3}}
		for k := range d {
			d[k].Rate = rapid.Float64Range(0.01, 10).Draw(t, "rate")
		}
		worst := func(n ...int) (x float64) {
			for k := range d {
				x = max(x, d[k].load()/float64(n[k]))
			}
			return x
		}
		best := math.Inf(1)
		for i := 1; i < n; i++ {
			for j := 1; i+j < n; j++ {
				best = min(best, worst(i, j, n-i-j))
			}
		}
		a := Allot(n, d)
		if got := worst(a[0].Nodes, a[1].Nodes, a[2].Nodes); got != best || a[0].Nodes+a[1].Nodes+a[2].Nodes != n {
			t.Fatalf("%v: the largest load for each node is %g, want %g", a, got, best)
		}
	})
}

// Nodes that each look for themselves come to the division of Allot or as good a one, and then stay.
func TestKeepersSettle(t *testing.T) {
	r := grid.NewRand(1, 1)
	demand := two(50, 1050, 0.95)
	nodes := make([]Keeper, 12)
	moves := 0
	counts := func() []int {
		n := make([]int, 2)
		for k := range nodes {
			if i := slices.Index([]string{"S", "L"}, nodes[k].Kept()); i >= 0 {
				n[i]++
			}
		}
		return n
	}
	look := func(from, to time.Duration) {
		for now := from; now < to; now += time.Minute {
			for k := range nodes {
				if nodes[k].Look(grid.Time(now), demand, counts(), r) {
					moves++
				}
			}
		}
	}
	look(0, time.Hour)
	if n := counts(); n[0] != 6 || moves > 14 {
		t.Errorf("after an hour %v, %d moves: want 6 and 6", n, moves)
	}
	demand, moves = two(50, 1050, 0.99), 0 // 49.5 to 10.5
	look(time.Hour, time.Hour+4*time.Minute)
	look(2*time.Hour, 6*time.Hour)
	// 10 and 2 would be best, and by less than a tenth better than 9 and 3.
	if n := counts(); n[0] != 9 || moves != 3 {
		t.Errorf("after a change %v, %d moves: want 9 and 3, by 3", n, moves)
	}
	moves = 0
	demand = two(50, 1050, 0.989) // less than a tenth would be won
	look(6*time.Hour, 10*time.Hour)
	if moves != 0 {
		t.Errorf("%d moves for a small change, want none", moves)
	}
}

// A node does not turn back at once, nor away from a class of which it is the last.
func TestKeeperHolds(t *testing.T) {
	r := grid.NewRand(1, 1)
	k := Keeper{}
	if !k.Look(0, two(1, 1, 0.9), []int{0, 0}, r) || k.Kept() != "S" {
		t.Fatalf("kept for %q, want S", k.Kept())
	}
	minute := grid.Time(time.Minute)
	for now := minute; now < 20*minute; now += minute {
		if k.Look(now, two(1, 1, 0.1), []int{1, 1}, r) {
			t.Errorf("after %v the last node of its class moved", time.Duration(now))
		}
	}
	for now := minute; now < 5*minute; now += minute {
		if k.Look(now, two(1, 1, 0.01), []int{20, 1}, r) {
			t.Errorf("after %v a node moved again", time.Duration(now))
		}
	}
	if !k.Look(10*minute, []Demand{{"L", 1, 1}}, []int{1}, r) || k.Kept() != "L" {
		t.Errorf("kept for %q where only L comes", k.Kept())
	}
}
