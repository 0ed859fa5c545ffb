package v1

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skep/grid"
)

func arraySpec() *Spec {
	return &Spec{Command: []string{"x"}, Inputs: []File{{Path: "lines", Blob: strings.Repeat("ab", 32)},
		{Path: "b.toml", Blob: strings.Repeat("cd", 32)}},
		TaskData: TaskData{Array: &Array{Indices: "0-4:2,9", Lines: &Lines{"lines", 3},
			Matrix: []Variable{{"m", []string{"a", "b"}}}, Inputs: []TaskInput{{1, "m", 1}}}}}
}

// An array comes back as it was submitted. What it needs of nodes is the grid's own matter, and not in the spec.
func TestArrayConverts(t *testing.T) {
	g, err := arraySpec().Grid()
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Check(); err != nil || g.Count != 24 {
		t.Errorf("%d tasks, %v: want 4 indices × 3 lines × 2 values", g.Count, err)
	}
	back := SpecOf(g)
	if d := cmp.Diff(arraySpec().Array, back.Array); d != "" || len(back.Needs.Labels) > 0 {
		t.Errorf("%s, needs %v", d, back.Needs.Labels)
	}
	if again, err := back.Grid(); err != nil || again.Check() != nil || !again.NeedsArrays() {
		t.Errorf("%+v, %v", again, err)
	}
}

// Nodes of a version that puts values into the command alone are not given a job that has them elsewhere.
func TestWhatOlderNodesCannotRun(t *testing.T) {
	for want, s := range map[bool]*Spec{
		false: {Command: []string{"echo", "${SKEP_INDEX}"}, Env: map[string]string{"A": "$B"}},
		true:  {Command: []string{"echo"}, Env: map[string]string{"A": "${SKEP_INDEX}"}},
	} {
		g, err := s.Grid()
		if err != nil {
			t.Fatal(err)
		}
		got := len(g.Needs.Labels) == 1 && g.Needs.Labels[0].Key == grid.ArrayLabel
		if got != want || g.Check() != nil {
			t.Errorf("%+v needs %v", s, g.Needs.Labels)
		}
	}
}

func TestArrayRefuses(t *testing.T) {
	for want, change := range map[string]func(s *Spec){
		`array "3-1": ends before it begins`: func(s *Spec) { s.Array.Indices = "3-1" },
		`input 1 is for a value of "other"`:  func(s *Spec) { s.Array.Inputs[0].Variable = "other" },
		"count 7: the array has 24":          func(s *Spec) { s.Count = 7 },
		"there is no such input or value":    func(s *Spec) { s.Array.Inputs[0].Value = 2 },
		"an input of at most 16777216 bytes": func(s *Spec) { s.Inputs, s.Array.Inputs = nil, nil },
	} {
		s := arraySpec()
		change(s)
		g, err := s.Grid()
		if err == nil {
			err = g.Check()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
}
