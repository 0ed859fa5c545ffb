package keys

import (
	"testing"

	"skep/grid"
)

// A signature stands for one node, one statement and one world.
func TestSignatures(t *testing.T) {
	a, b := grid.NodeID{1}, grid.NodeID{2}
	s := Of(7, a).Sign([]byte("a says"))
	for name, c := range map[string]struct {
		seed      uint64
		node      grid.NodeID
		statement string
		want      bool
	}{
		"what was signed":       {7, a, "a says", true},
		"another node":          {7, b, "a says", false},
		"another statement":     {7, a, "a said", false},
		"a node of other seeds": {8, a, "a says", false},
	} {
		if got := Of(c.seed, b).Verify(c.node, []byte(c.statement), s); got != c.want {
			t.Errorf("%s: verified %v, want %v", name, got, c.want)
		}
	}
	if Of(7, b).Verify(a, []byte("a says"), s[:10]) {
		t.Error("a part of a signature counts as one")
	}
}
