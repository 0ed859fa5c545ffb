package sparse

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
)

type entry struct{ k, v int }

func (e *entry) Key() int { return e.k }

// A Map agrees with a map of the language under random calls, while it is small and while it is large.
func TestMapAgreesWithAMap(t *testing.T) {
	for seed := range uint64(50) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			keys := 1 + rng.IntN(4*smallMap)
			var m Map[int, *entry]
			want := map[int]*entry{}
			for range 2000 {
				k := rng.IntN(keys)
				if got := m.Get(k); got != want[k] {
					t.Fatalf("key %d: got %v, want %v (go test ./sparse -run TestMapAgreesWithAMap/%d)", k, got, want[k], seed)
				}
				switch e := want[k]; {
				case e == nil && rng.IntN(3) > 0:
					e = &entry{k, rng.Int()}
					m.Put(e)
					want[k] = e
				default:
					m.Drop(k)
					delete(want, k)
				}
				all := map[int]*entry{}
				for e := range m.All() {
					all[e.k] = e
				}
				if m.Len() != len(want) || !maps.Equal(all, want) {
					t.Fatalf("%d entries %v, want %v", m.Len(), all, want)
				}
			}
		})
	}
}
