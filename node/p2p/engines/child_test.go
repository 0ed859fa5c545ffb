package engines

import (
	"testing"

	"skep/exec/child"
	"skep/grid"
	"skep/requirement"
)

func gridOf(cores float64, memory int64, largest float64, level grid.Isolation) *Options {
	g := &child.Grid{Node: "n", Network: "child", Nodes: 2, Cores: cores, Memory: memory, Isolation: level}
	g.Largest.Cores, g.Largest.Memory = largest, memory/2
	return &Options{Child: &Child{Grid: g}}
}

// A node that stands for a grid has as much as all nodes of it together, keeps what each of these keeps, and requires
// of jobs that a task fits one of them, beside what its operator requires.
func TestWhatANodeWithAChildGridSays(t *testing.T) {
	o := gridOf(6, 8<<30, 4, grid.IsolationBasic)
	if c, err := o.Capacity(); err != nil || c.CPU != 6*grid.CPU || c.Memory != 8*grid.GiB {
		t.Errorf("capacity %v, %v", c, err)
	}
	if level, known := o.Isolation(); !known || level != grid.IsolationBasic {
		t.Errorf("isolation %v, known %t", level, known)
	}
	own, err := requirement.Parse("job.submitter == 'a' || job.submitter == 'b'", requirement.Accept)
	if err != nil {
		t.Fatal(err)
	}
	for _, operator := range []*requirement.Expression{nil, own} {
		x, err := o.Accept(operator)
		if err != nil {
			t.Fatal(err)
		}
		want := "job.cpu <= 4 && job.memory <= 4"
		if operator != nil {
			want = "(" + own.String() + ") && " + want
		}
		if x.String() != want {
			t.Errorf("accept %q: want %q", x, want)
		}
	}
	if _, err := (&Options{Child: &Child{}}).Capacity(); err == nil {
		t.Error("a grid that was not looked at has a capacity")
	}
}

// Settings of boxes of this machine are refused with an engine that runs tasks elsewhere, and none without.
func TestBoxesElsewhere(t *testing.T) {
	if err := gridOf(1, 1, 1, 0).Check(nil, true); err == nil {
		t.Error("want that expose and hide are refused")
	}
	if err := (&Options{}).Check(nil, true); err != nil {
		t.Error(err)
	}
	if labels := gridOf(1, 1, 1, 0).Labels(); len(labels) != 2 || labels[0].Value != child.EngineName {
		t.Errorf("labels %v: want the engine, by which other grids know that it is none of their nodes", labels)
	}
}
