package v1

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skep/grid"
)

// What a job waits for comes back as it was submitted, and the label that it needs is not in the spec.
func TestOrderConverts(t *testing.T) {
	id := func(n byte) string { return grid.JobID{Nonce: [10]byte{n}}.String() }
	s := &Spec{Command: []string{"x"}, Count: 2}
	s.Order = Order{After: []Dependency{{Job: id(1)}}, AfterOK: []Dependency{{Job: id(2),
		Members: []string{grid.NodeID{1}.String(), grid.NodeID{2}.String(), grid.NodeID{3}.String()}}},
		AfterEach: &Dependency{Job: id(3)}, JobInputs: []JobInput{{Job: id(2), Task: 4, Path: "a", To: "b"},
			{Job: id(3), Path: "c", To: "c"}}}
	g, err := s.Grid()
	if err != nil || g.Check() != nil {
		t.Fatal(err, g.Check())
	}
	if back := SpecOf(g); cmp.Diff(s.Order, back.Order) != "" || len(back.Needs.Labels) > 0 {
		t.Errorf("%s, needs %v", cmp.Diff(s.Order, back.Order), back.Needs.Labels)
	}
	for _, c := range []struct {
		o    Order
		want string
	}{
		{Order{After: []Dependency{{Job: "last"}}}, `after: job ID "last": want 16 characters`},
		{Order{AfterOK: []Dependency{{Job: id(1), Members: []string{"x"}}}}, "after_ok: members of job aeaaaaaa"},
		{Order{JobInputs: []JobInput{{Job: id(1), Path: "a"}}}, "want one of after, after_ok or after_each"},
	} {
		s.Order = c.o
		if _, err := s.Grid(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v; want %q", c.o, err, c.want)
		}
	}
}
