package v1

import (
	"strings"
	"testing"

	"skep/grid"
)

// An option has what it says and else what the job says, and comes back as it went.
func TestOptions(t *testing.T) {
	s := &Spec{Command: []string{"a"}, Needs: Needs{Cores: 4, Memory: 1 << 30}, TaskData: TaskData{Options: []Option{
		{Needs: Needs{Cores: 8}, Speedup: 6.5}, {}, {Needs: Needs{Cores: 1, Memory: 1 << 20,
			Resources: map[string]int64{"gpu": 1}, Labels: map[string][]string{"arch": {"amd64"}}}, Value: 3}}}}
	g, err := s.Grid()
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	want := []grid.Option{{Resources: grid.Resources{CPU: 8000, Memory: grid.GiB}, Speedup: 6.5, Value: 1},
		{Resources: grid.Resources{CPU: 4000, Memory: grid.GiB}, Speedup: 1, Value: 1},
		{Resources: grid.Resources{CPU: 1000, Memory: grid.MiB, Counts: "gpu=1"}, Speedup: 1, Value: 3}}
	for i := range want {
		o := g.Needs.Options[i]
		if o.Labels = nil; o.Resources != want[i].Resources || o.Speedup != want[i].Speedup || o.Value != want[i].Value {
			t.Errorf("option %d: %+v, want %+v", i, o, want[i])
		}
	}
	back := SpecOf(g)
	if len(back.Needs.Labels) != 0 {
		t.Errorf("it shows the labels %v, which nobody has asked for", back.Needs.Labels)
	}
	again, err := back.Grid()
	if err != nil || len(again.Needs.Options) != 3 || again.Needs.Options[2].Labels[0].Key != "arch" ||
		again.Needs.Resources != g.Needs.Resources {
		t.Errorf("%v, %+v, want what it was", err, again.Needs)
	}
	s.Options[1].Needs.Where = "node.speed > 1"
	if _, err := s.Grid(); err == nil || !strings.Contains(err.Error(), "options[1].needs: pin and where") {
		t.Errorf("%v, want the option named", err)
	}
}
