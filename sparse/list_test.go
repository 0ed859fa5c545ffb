package sparse

import (
	"math/rand/v2"
	"testing"
)

// A list behaves as a plain slice does, whatever was written in which order; elements that were not made are zero.
// Catches a wrong split of the index, and a leaf that moves.
func TestListIsASlice(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, length := range []uint32{1, Leaf, Leaf + 1, 1000, 1025, 100_001} {
		l, twin := Make[int](length), make([]int, length)
		var at []*int
		for range 300 {
			i := rng.Uint32N(length)
			p := l.At(i)
			*p++
			twin[i]++
			at = append(at, p)
			if l.At(i) != p {
				t.Fatalf("length %d: element %d moved", length, i)
			}
		}
		if l.Len() != int(length) || len(at) != 300 {
			t.Fatalf("length %d: Len %d", length, l.Len())
		}
		for i, want := range twin {
			if p := l.Peek(uint32(i)); p == nil && want != 0 || p != nil && *p != want {
				t.Fatalf("length %d: element %d is %v, want %d", length, i, p, want)
			}
		}
		for _, first := range []uint32{0, length / 2, length - 1} {
			seen, last := 0, -1
			for i, p := range l.From(first) {
				if int(i) <= last || i < first || i >= length || *p != twin[i] {
					t.Fatalf("length %d from %d: index %d after %d holds %d, want %d", length, first, i, last, *p, twin[i])
				}
				last = int(i)
				seen += *p
			}
			want := 0
			for _, x := range twin[first:] {
				want += x
			}
			if seen != want {
				t.Fatalf("length %d from %d: went through %d writes, want %d", length, first, seen, want)
			}
		}
	}
}

// What was not written takes no memory: a list of any length costs nothing, one write at its end a leaf, a branch and
// the trunk.
func TestMemoryFollowsWrites(t *testing.T) {
	if n := testing.AllocsPerRun(10, func() {
		l := Make[[16]int64](100_000)
		if l.Peek(99_999) != nil || l.Leaves() != 0 {
			t.Fatal("something was made")
		}
		for range l.All() {
			t.Fatal("something was made")
		}
	}); n != 0 {
		t.Errorf("%v allocations for a list that nobody wrote, want 0", n)
	}
	l := Make[int](100_000)
	l.At(99_999)
	if n := l.Leaves(); n != 1 {
		t.Errorf("%d leaves after one write, want 1", n)
	}
}
