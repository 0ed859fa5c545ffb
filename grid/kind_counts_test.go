package grid

import (
	"slices"
	"testing"
)

func TestKindsAreCounted(t *testing.T) {
	var c KindCounts
	for _, k := range []Kind{KindPoll, KindDigest, KindPoll} {
		c.Add(k)
	}
	if want := (KindCounts{0, 1, 2}); !slices.Equal(c, want) {
		t.Errorf("%v, want %v", c, want)
	}
	last := Kind(Kinds - 1)
	if c.Add(last); len(c) != Kinds || c[last] != 1 || c[KindPoll] != 2 {
		t.Errorf("%v after a %v", c, last)
	}
}
