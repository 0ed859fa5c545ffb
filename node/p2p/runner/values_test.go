package runner

import (
	"slices"
	"strings"
	"testing"

	"skep/grid"
)

// A task's values are in its command, in its environment and in the values of it, and in its patterns of outputs. The
// program may be an input of these values.
func TestValuesAreEverywhere(t *testing.T) {
	spec := &grid.JobSpec{Command: []string{"bin/sim-${model}", "--seed=${seed}", "${HOME}"}, Count: 4,
		Env: []grid.Var{{Name: "OUT", Value: "${model}/${SKEP_INDEX}"}}, Outputs: []string{"${model}-${seed}/*.csv"},
		TaskData: grid.TaskData{Array: &grid.Array{Axes: []grid.Axis{{Name: "seed", Values: []string{"1", "2"}},
			{Name: "model", Values: []string{"a", "b"}}}}}}
	id := grid.AttemptID{Task: grid.TaskID{Index: 3}}
	vars := variables(grid.NodeID{}, spec, id, spec.Array.Values(3, ""))
	x, err := expand(spec, vars, []grid.File{{Path: "bin/sim-b", Exec: true}})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"./bin/sim-b", "--seed=2", "${HOME}"}; !slices.Equal(x.argv, want) {
		t.Errorf("command %q: want %q", x.argv, want)
	}
	if want := []string{"b-2/*.csv"}; !slices.Equal(x.outputs, want) {
		t.Errorf("outputs %q: want %q", x.outputs, want)
	}
	for _, want := range []string{"OUT=b/3", "seed=2", "model=b", "SKEP_INDEX=3", "SKEP_COUNT=4"} {
		if !slices.Contains(x.env, want) {
			t.Errorf("environment %q lacks %s", x.env, want)
		}
	}
}

// The grid that a task comes from has put its values into it: they are taken as they are, and go before those of here.
func TestValuesOfAnotherGridStay(t *testing.T) {
	spec := &grid.JobSpec{Command: []string{"${SKEP_INDEX}"}, Count: 1, Outputs: []string{"${SKEP_INDEX}"},
		Env: []grid.Var{{Name: "SKEP_INDEX", Value: "7"}}, TaskData: grid.TaskData{Outer: grid.Outer{"parent"}}}
	x, err := expand(spec, variables(grid.NodeID{1}, spec, grid.AttemptID{}, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	if x.argv[0] != "${SKEP_INDEX}" || x.outputs[0] != "${SKEP_INDEX}" || !slices.Contains(x.env, "SKEP_INDEX=7") ||
		slices.Contains(x.env, "SKEP_INDEX=0") || !slices.Contains(x.env, "SKEP_NODE="+grid.NodeID{1}.String()) {
		t.Errorf("%+v: want the values of the other grid, and this node", x)
	}
}

// A value may not bring an output pattern out of the work folder, and not make a command of any size.
func TestValuesAreBounded(t *testing.T) {
	up := []grid.Var{{Name: "a", Value: "../.."}, {Name: "long", Value: strings.Repeat("x", 4096)}}
	long := []grid.Var{{Name: "A", Value: strings.Repeat("${long}", 300)}}
	for want, spec := range map[string]*grid.JobSpec{
		"is not inside the work folder": {Command: []string{"x"}, Outputs: []string{"${a}/x"}},
		"command: ":                     {Command: []string{"x", strings.Repeat("${long}", 300)}},
		"env A: ":                       {Command: []string{"x"}, Env: long},
		"want fewer of them":            {Command: append([]string{"x"}, slices.Repeat([]string{"${long}"}, 300)...)},
	} {
		if x, err := expand(spec, up, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v, %v: want %q", x, err, want)
		}
	}
}

func TestLineAt(t *testing.T) {
	l, err := readLines(grid.BlobID{}, strings.NewReader("first\n\nthird \r\n"+strings.Repeat("x", 5000)+"\nlast"))
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[int]string{0: "first", 1: "", 2: "third ", 4: "last"} {
		if got, err := l.line(at); got != want || err != nil {
			t.Errorf("line %d: %q, %v: want %q", at, got, err, want)
		}
	}
	for at, want := range map[int]string{-1: "no line 0", 3: "line 4 has 5000 bytes", 5: "no line 6"} {
		if got, err := l.line(at); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("line %d: %q, %v: want %q", at, got, err, want)
		}
	}
	if _, err := readLines(grid.BlobID{}, strings.NewReader(strings.Repeat("x", int(grid.MaxLines)+1))); err == nil {
		t.Error("a file that is too large")
	}
}
