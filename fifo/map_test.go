package fifo

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A map and a list are the reference; sizes go beyond what is searched, and back.
func TestAgainstMap(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		var m Map[int, int]
		m.first = -uint32(seed * 10) // numbers pass 2^32
		ref, order := map[int]int{}, []int(nil)
		bound := []int{1, 5, small, small + 1, 200}[seed%5]
		for step := range 2000 {
			key := r.IntN(2 * bound)
			got, want := m.Get(key), 0
			if value, is := ref[key]; is != (got != nil) || is && *got != value {
				t.Fatalf("seed %d, step %d: %v of key %d, want %v", seed, step, got, key, value)
			}
			switch {
			case got != nil && r.IntN(4) == 0:
				m.Remove(key)
				delete(ref, key)
				order = slices.DeleteFunc(order, func(k int) bool { return k == key })
			case got != nil:
				*got = step
				ref[key] = step
			default:
				if m.Len() == bound || r.IntN(50) == 0 && m.Len() > 0 {
					key, value := m.Oldest()
					if want = order[0]; key != want || *value != ref[want] {
						t.Fatalf("seed %d, step %d: the oldest is %d: %d, want %d: %d", seed, step, key, *value, want, ref[want])
					}
					m.RemoveOldest()
					delete(ref, want)
					order = order[1:]
				}
				m.Add(key, step)
				ref[key] = step
				order = append(order, key)
			}
			if m.Len() != len(order) {
				t.Fatalf("%d entries, want %d", m.Len(), len(order))
			}
		}
	}
}

// A small map has no index, what was removed is not held, and a full map allocates nothing.
func TestMemory(t *testing.T) {
	var m Map[int, *int]
	for k := range small {
		m.Add(k, new(int))
	}
	if m.index != nil {
		t.Errorf("%d entries have an index", m.Len())
	}
	for range m.Len() {
		m.RemoveOldest()
	}
	for i := range m.ring {
		if m.ring[i].value != nil {
			t.Fatal("a value that was removed is held")
		}
	}
	if over := len(m.ring) - small; over > small/4 {
		t.Errorf("%d places for %d entries", len(m.ring), small)
	}
	var s Map[int, struct{}]
	next := 0
	turn := func() {
		if s.Len() == 100 {
			s.RemoveOldest()
		}
		s.Add(next, struct{}{})
		next++
	}
	for range 1000 {
		turn()
	}
	if n := testing.AllocsPerRun(1000, turn); n > 0.1 {
		t.Errorf("%v allocations for an entry", n)
	}
}
