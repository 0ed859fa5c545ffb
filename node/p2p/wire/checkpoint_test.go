package wire

import (
	"testing"

	"skep/grid"
)

// The inputs of an offer are told apart by where their paths lead, in whatever order they are.
func TestSplitInputs(t *testing.T) {
	const folder = grid.CheckpointFolder
	in := []grid.File{{Path: "a"}, {Path: "b/../" + folder + "/5/0/f"}, {Path: folder + "/../c"},
		{Path: folder + "/5/1/f"}, {Path: folder}}
	left, from := grid.SplitInputs(in)
	if len(left) != 3 || left[0].Path != "a" || left[1].Path != folder+"/../c" || left[2].Path != folder {
		t.Errorf("left by other jobs: %v", left)
	}
	if len(from) != 2 || from[0] != in[1] || from[1] != in[3] {
		t.Errorf("of the checkpoint: %v", from)
	}
	if in[2].Path != folder+"/../c" {
		t.Error("what was given has changed")
	}
	if left, from := grid.SplitInputs(in[:1]); len(left) != 1 || from != nil {
		t.Errorf("%v, %v of inputs without a checkpoint", left, from)
	}
}
