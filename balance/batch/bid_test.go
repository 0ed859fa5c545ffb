package batch

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var rules = map[string]Rule{"min-min": MinMin, "max-min": MaxMin, "sufferage": Sufferage, "QoS-min-min": QoSMinMin,
	"DFPLTF": DFPLTF}

// The rule is for tasks of the same bid: min-min would place b, a, c.
func TestHigherBidsGoFirst(t *testing.T) {
	e := [][]float64{{3}, {2}, {4}}
	for _, c := range []struct {
		bids, aged [3]float64
		want       string
	}{
		{[3]float64{1, 1, 1}, [3]float64{}, "b1@2 a1@5 c1@9"},
		{[3]float64{1, 1, 4}, [3]float64{}, "c1@4 b1@6 a1@9"},
		{[3]float64{4, 1, 4}, [3]float64{}, "a1@3 c1@7 b1@9"},
		{[3]float64{4, 1, 2}, [3]float64{}, "a1@3 c1@7 b1@9"},
		{[3]float64{1, 2, 4}, [3]float64{5, 2, 4}, "a1@3 c1@7 b1@9"},
		{[3]float64{1, 1, 1}, [3]float64{9, 2, 4}, "b1@2 a1@5 c1@9"}, // they have but waited differently
	} {
		k := kindsOf(e)
		for i := range k {
			k[i].Bid, k[i].Aged = c.bids[i], c.aged[i]
		}
		if got := mapped(Mapper{Rule: MinMin}, k, machines(1)); got != c.want {
			t.Errorf("bids %v, aged %v: %s, want %s", c.bids, c.aged, got, c.want)
		}
	}
}

// What has waited raises the bid of one task of a kind: a flood does not become urgent as a whole.
func TestOneTaskOfAKindIsUrgent(t *testing.T) {
	k := []Kind{{Tasks: 3, Alone: []float64{1}, Bid: 1, Aged: 9}, {Tasks: 2, Alone: []float64{1}, Bid: 4}}
	if got := mapped(Mapper{Rule: MinMin}, k, machines(1)); got != "a1@1 b1@2 b1@3 a1@4 a1@5" {
		t.Errorf("%s, want one a, then all b", got)
	}
}

// randomTable is kinds without bids, and nodes.
func randomTable(r *rand.Rand) ([]Kind, []Node) {
	n := machines(1 + r.IntN(5))
	for j := range n {
		n[j].Ready = float64(r.IntN(3))
	}
	var k []Kind
	for range 1 + r.IntN(6) {
		x := Kind{Tasks: 1 + r.IntN(4), Ages: []float64{float64(r.IntN(20))}}
		for range n {
			if x.Alone = append(x.Alone, float64(1+r.IntN(9))); r.IntN(5) == 0 {
				x.Alone[len(x.Alone)-1] = inf
			}
		}
		k = append(k, x)
	}
	return k, n
}

// Where all bid the same, whatever it is and however long they have waited, every rule maps as it does without bids.
func TestEqualBidsChangeNothing(t *testing.T) {
	for name, rule := range rules {
		for seed := range uint64(300) {
			r := rand.New(rand.NewPCG(seed, 1))
			k, n := randomTable(r)
			m := Mapper{Rule: rule, Ageing: 10}
			want := mapped(m, k, slices.Clone(n))
			bid := float64(1 + r.IntN(9))
			for i := range k {
				k[i].Bid, k[i].Aged = bid, bid+float64(r.IntN(20))
			}
			if got := mapped(m, k, slices.Clone(n)); got != want {
				t.Fatalf("%s, all bid %g: %s, want %s as without bids; seed %d", name, bid, got, want, seed)
			}
		}
	}
}

// What bids less changes nothing for what bids more: its placements come first, as if it were alone.
func TestHigherBidsAreMappedAsIfAlone(t *testing.T) {
	for name, rule := range rules {
		for seed := range uint64(300) {
			r := rand.New(rand.NewPCG(seed, 2))
			k, n := randomTable(r)
			for i := range k {
				k[i].Bid = 2
			}
			m := Mapper{Rule: rule, Ageing: 10}
			want := m.Map(slices.Clone(k), slices.Clone(n), inf, math.MaxInt, nil)
			for range 1 + r.IntN(3) {
				low := k[r.IntN(len(k))]
				low.Bid = 1
				k = append(k, low)
			}
			got := m.Map(k, slices.Clone(n), inf, math.MaxInt, nil)
			if !strings.HasPrefix(text(got), text(want)) {
				t.Fatalf("%s: %s, want %s first; seed %d", name, text(got), text(want), seed)
			}
		}
	}
}
