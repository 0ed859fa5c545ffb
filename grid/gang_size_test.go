package grid

import "testing"

// The number of an attempt says how many ranks it has, and attempts follow each other whatever their sizes.
func TestSizeOfAttempt(t *testing.T) {
	g, a := Gang{Ranks: MaxRanks, Min: 2}, Attempt{Epoch: 3}
	if n := g.RanksOf(a); n != 0 {
		t.Errorf("no attempt has %d ranks", n)
	}
	for _, ranks := range []uint32{16, 2, MaxRanks, 2, 3} {
		next := g.After(a, ranks)
		if n := g.RanksOf(next); n != ranks || !a.Less(next) || next.Epoch != 3 {
			t.Errorf("attempt %v after %v has %d ranks, want %d", next, a, n, ranks)
		}
		a = next
	}
	if want := "3.50003"; a.String() != want {
		t.Errorf("the fifth one is %v, want %s", a, want)
	}
	for _, n := range []uint32{1, 2, 10_001, 11_025, 20_000} {
		if ranks := g.RanksOf(Attempt{1, n}); ranks != 0 {
			t.Errorf("attempt 1.%d has %d ranks: want that the gang has no such attempt", n, ranks)
		}
	}
}

// All attempts of a gang of a fixed size have that size, as those of earlier versions.
func TestFixedSize(t *testing.T) {
	g := Gang{Ranks: 4}
	if a := g.After(Attempt{1, 7}, 4); a != (Attempt{1, 8}) || g.RanksOf(a) != 4 || g.Fewest() != 4 || g.Sized() {
		t.Errorf("%v, %d ranks, at least %d", a, g.RanksOf(a), g.Fewest())
	}
}
