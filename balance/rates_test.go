package balance

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"skep/grid"
)

// The table against a dumb twin that keeps every column as it was said.
func TestRatesTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r rates
		twin := map[grid.NodeID]map[string]grid.Rate{}
		name := rapid.SampledFrom([]string{"a", "b", "c", "d", grid.OtherClass})
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			id := nodeID(rapid.IntRange(0, 6).Draw(t, "node"))
			if rapid.IntRange(0, 3).Draw(t, "gone") == 0 {
				r.remove(id)
				delete(twin, id)
			} else {
				column := map[string]grid.Rate{}
				var list []grid.Rate
				for range rapid.IntRange(0, 4).Draw(t, "classes") {
					x := grid.Rate{Class: name.Draw(t, "class"), Alpha: float64(rapid.IntRange(0, 3).Draw(t, "alpha")),
						Mu: float64(rapid.IntRange(0, 3).Draw(t, "mu"))}
					if _, twice := column[x.Class]; !twice {
						column[x.Class] = x
					}
					list = append(list, x)
				}
				r.put(id, list, 1)
				twin[id] = column
			}
			compare(t, &r, twin)
		}
	})
}

func compare(t *rapid.T, r *rates, twin map[grid.NodeID]map[string]grid.Rate) {
	sums := map[string]float64{}
	for id, column := range twin {
		j, ok := r.lookup(&id)
		if !ok {
			t.Fatalf("node %v is missing", id[1])
		}
		for _, x := range column {
			sums[x.Class] += x.Alpha
		}
		for _, class := range r.names {
			if class == "" {
				continue
			}
			want := column[class].Mu // 0 where the class is left out
			if mu, _ := r.execution(j, r.wanted(class)); mu != want {
				t.Fatalf("class %s runs at %g on node %d, want %g", class, mu, id[1], want)
			}
		}
	}
	if known := len(r.names) - len(r.spareClasses); len(r.order) != len(twin) || known != len(sums) {
		t.Fatalf("%d nodes, %d classes: want %d, %d", len(r.order), known, len(twin), len(sums))
	}
	for class, want := range sums {
		if i, ok := r.classOf(class); !ok || r.arrivals(i) != want {
			t.Fatalf("class %s, known %v, arrives at %g, want %g", class, ok, r.arrivals(i), want)
		}
	}
}

// Peers cannot make the table grow with classes that they make up, nor rates be what they cannot.
func TestRatesBounds(t *testing.T) {
	var r rates
	for k := range 2 * MaxClasses {
		r.put(nodeID(k/grid.MaxRates), []grid.Rate{{Class: fmt.Sprint(k), Mu: 1}}, 1)
	}
	for k := range 200 {
		var list []grid.Rate
		for i := range grid.MaxRates {
			list = append(list, grid.Rate{Class: fmt.Sprint(k, i), Mu: 1})
		}
		r.put(nodeID(k), list, 1)
	}
	if len(r.names) > MaxClasses || len(r.classes) > MaxClasses {
		t.Errorf("%d classes, want at most %d", len(r.names), MaxClasses)
	}
	for in, want := range map[float64]float64{math.Inf(1): mostRate, math.Inf(-1): 0, -1: 0, 1e-30: 0, 1e300: mostRate,
		2: 2} {
		if got := clean(in); got != want {
			t.Errorf("rate %g reads as %g, want %g", in, got, want)
		}
	}
	if got := clean(math.NaN()); got != 0 {
		t.Errorf("NaN reads as %g", got)
	}
}
