package child

import (
	"errors"
	"strings"
	"testing"

	"skep/exec/process"
	"skep/grid"
	v1 "skep/node/api/v1"
	"skep/requirement"
)

func parse(t *testing.T, text string, use requirement.Use) *requirement.Expression {
	t.Helper()
	x, err := requirement.Parse(text, use)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// What a job requires of the node that runs it, and how it ranks nodes, holds for the nodes of the child too: that this
// node meets it says nothing of them. Such a job does not wait in the child for a node that meets it, since another one
// of the parent may.
func TestRequirementsPass(t *testing.T) {
	f := &fakeGrid{jobs: map[string]*v1.Job{}}
	e := f.open(t, t.TempDir())
	w := work(t, e)
	w.Job.Wait = true
	if s, err := e.spec(w); err != nil || !s.Wait || s.Needs.Where != "" || s.Rank != "" {
		t.Errorf("%+v, %v: want that it waits, and requires nothing", s, err)
	}
	w.Job.Needs.Where = parse(t, "node.memory > 64.0", requirement.Where)
	w.Job.Rules.Rank = parse(t, "node.speed", requirement.Rank)
	s, err := e.spec(w)
	if err != nil || s.Needs.Where != "node.memory > 64.0" || s.Rank != "node.speed" || s.Wait {
		t.Errorf("%+v, %v: want the same requirement and rank, and that it does not wait", s, err)
	}
}

// A task that goes on from a checkpoint is refused: the path that it is told of is one of this machine.
func TestNoCheckpointPasses(t *testing.T) {
	f := &fakeGrid{jobs: map[string]*v1.Job{}}
	e := f.open(t, t.TempDir())
	w := work(t, e)
	w.Env = append(w.Env, grid.CheckpointVariable+"=/tmp/x/.skep-checkpoint/3")
	var no *process.ExecError
	if _, err := e.Start(w, nil); !errors.As(err, &no) || !strings.Contains(err.Error(), "goes on from a checkpoint") ||
		f.submissions() > 0 {
		t.Errorf("%v, %d submissions: want that it is refused, and why", err, f.submissions())
	}
}
