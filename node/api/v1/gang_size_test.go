package v1

import (
	"strings"
	"testing"

	"skep/grid"
)

// A gang of no fixed size has as many tasks as there may be ranks, and is described as it was submitted.
func TestSizesOfAGang(t *testing.T) {
	for _, c := range []struct {
		gang  Gang
		count uint32
		min   uint32
		wrong string
	}{
		{gang: Gang{Min: 2, Max: 16}, count: 16, min: 2},
		{gang: Gang{Min: 4, Max: 4}, count: 4},
		{gang: Gang{Ranks: 4}, count: 4},
		{gang: Gang{Min: 3, Max: 2}, wrong: "gang.min 3 is above max 2: want min ≤ max"},
		{gang: Gang{Max: 2}, wrong: "gang.min 0 with max 2: want a min from 1 to max"},
		{gang: Gang{Min: 2}, wrong: "gang.max 0 with min 2: want a max from min to 1024"},
		{gang: Gang{Min: 2, Max: 1025}, wrong: "gang.max 1025 with min 2: want a max from min to 1024"},
		{gang: Gang{Ranks: 4, Min: 2, Max: 8}, wrong: "gang.ranks 4 with min 2 and max 8: want either ranks, or min and max"},
		{gang: Gang{}, wrong: "gang.ranks 0: want 1 to 1024"},
		{gang: Gang{Ranks: 4, Ports: []int64{29501, 29500}}, count: 4},
		{gang: Gang{Ranks: 4, Ports: []int64{0}}, wrong: "gang.ports: port 0: want 1 to 65535"},
		{gang: Gang{Ranks: 4, Ports: []int64{70000}}, wrong: "gang.ports: port 70000: want 1 to 65535"},
		{gang: Gang{Ranks: 4, Ports: []int64{9, 8, 9}}, wrong: "gang.ports: port 9: is there twice: want it once"},
		{gang: Gang{Ranks: 4, Ports: make([]int64, 17)}, wrong: "gang.ports: 17 ports: want at most 16"},
	} {
		g, err := (&Spec{Command: []string{"x"}, TaskData: TaskData{Gang: &c.gang}}).Grid()
		if c.wrong != "" {
			if err == nil || err.Error() != c.wrong {
				t.Errorf("%+v: %v, want %q", c.gang, err, c.wrong)
			}
			continue
		}
		if err == nil {
			err = g.Check()
		}
		if err != nil || g.Count != c.count || g.Gang.Ranks != c.count || g.Gang.Min != c.min {
			t.Errorf("%+v: %+v, %v", c.gang, g.Gang, err)
			continue
		}
		back := SpecOf(g)
		for label := range back.Needs.Labels {
			if strings.HasPrefix(label, "skep.") {
				t.Errorf("%+v: the label %s that follows from it is shown", c.gang, label)
			}
		}
		if again, err := back.Grid(); err != nil || again.Gang != g.Gang || again.Needs.HasFeature(grid.GangSizeLabel) !=
			(c.min > 0) {
			t.Errorf("%+v: again %+v, %v", c.gang, again.Gang, err)
		}
	}
}

// What a contract does not say has its default, moves that are none are kept apart from those that are not said, and
// a job is described as it was submitted.
func TestContractsOfAGang(t *testing.T) {
	third, zero := 1./3, uint32(0)
	model := &Model{Name: "life", Parameters: map[string]float64{"n": 64}}
	for _, c := range []struct {
		said *Contract
		want grid.Contract
	}{
		{nil, grid.DefaultContract},
		{&Contract{}, grid.DefaultContract},
		{&Contract{Tolerance: &third}, grid.Contract{Tolerance: third, Window: 10, Moves: 3}},
		{&Contract{Moves: &zero}, grid.Contract{Tolerance: 0.5, Window: 10}},
	} {
		g, err := (&Spec{Command: []string{"x"}, TaskData: TaskData{Gang: &Gang{Ranks: 2, Model: model,
			Contract: c.said}}}).Grid()
		if err == nil {
			err = g.Check()
		}
		if err != nil || g.Gang.Terms() != c.want {
			t.Errorf("%+v: %+v, %v, want %+v", c.said, g.Gang.Terms(), err, c.want)
			continue
		}
		if counts := g.Gang.Search.CountsMoves; counts != (c.want.Moves > 0) {
			t.Errorf("%+v: its moves are counted: %v", c.said, counts)
		}
		again, err := SpecOf(g).Grid()
		if err != nil || again.Gang.Terms() != c.want || (again.Gang.Search.Contract == nil) != (c.said == nil) {
			t.Errorf("%+v: again %+v, %v", c.said, again.Gang.Terms(), err)
		}
	}
	wide := 1001.0
	g, err := (&Spec{Command: []string{"x"}, TaskData: TaskData{Gang: &Gang{Ranks: 2, Model: model,
		Contract: &Contract{Tolerance: &wide, Window: &zero}}}}).Grid()
	if err == nil {
		err = g.Check()
	}
	for _, want := range []string{"gang.contract.tolerance 1001: want a part from 0 to 1000",
		"gang.contract.window 0: want 1 to 1000000 iterations"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	_, err = (&Spec{Command: []string{"x"}, TaskData: TaskData{Gang: &Gang{Ranks: 2, Contract: &Contract{}}}}).Grid()
	if err == nil || !strings.Contains(err.Error(), "want a model") {
		t.Errorf("a contract without a model: %v", err)
	}
}
