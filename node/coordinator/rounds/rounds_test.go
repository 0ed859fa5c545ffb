package rounds

import (
	"slices"
	"testing"
)

// One gang asks at a time; those that came meanwhile go on when its turn is over, but for those that are forgotten.
func TestOneAsksAtATime(t *testing.T) {
	g := New[string](2)
	for h, j := range []string{"", "a", "b", "c"} {
		if j != "" {
			g.Add(uint64(h), j)
		}
	}
	if g.Busy() || g.Wait("a") {
		t.Error("a gang waits for nobody")
	}
	g.Begin("a")
	for _, j := range []string{"b", "c"} {
		if !g.Busy() || !g.Wait(j) {
			t.Errorf("%s does not wait", j)
		}
	}
	if got := g.End("b"); got != nil || !g.Busy() {
		t.Errorf("a turn ends that is another one's, and %v go on", got)
	}
	g.Drop(3)
	if got := g.End("a"); !slices.Equal(got, []string{"b"}) || g.Busy() {
		t.Errorf("%v go on: want b", got)
	}
	if got := slices.Collect(g.All()); !slices.Equal(got, []string{"a", "b"}) || g.Len() != 2 || g.Get(3) != "" {
		t.Errorf("%v are known: want a and b", got)
	}
}

// A worker may remember a round of an earlier run: the numbers of a later one are above.
func TestRoundsOfALaterRunAreAbove(t *testing.T) {
	before, after := New[string](1), New[string](2)
	for range 1000 {
		before.Next()
	}
	if b, a := before.Next(), after.Next(); b >= a || after.Next() != a+1 {
		t.Errorf("round %d follows %d of an earlier run", a, b)
	}
}
