package grid

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"skep/internal/indices"
)

// arrayJob has indices 0, 2, 4 × lines of two × models a and b; its last input is of model b only.
func arrayJob() *JobSpec {
	return &JobSpec{Engine: EngineProcess, Command: []string{"run"}, Count: 12,
		Needs: Needs{Resources: Resources{CPU: 1000}, Labels: []LabelNeed{FeatureNeed(ArrayLabel)}},
		Inputs: []File{{Path: "lines", Blob: BlobID{1}, Size: 10}, {Path: "m", Blob: BlobID{2}, Size: 100},
			{Path: "m", Blob: BlobID{3}, Size: 1000}},
		TaskData: TaskData{Array: &Array{Axes: []Axis{
			{Name: IndexVariable, Indices: indices.Set{{First: 0, Last: 4, Step: 2}}},
			{Name: LineVariable, Lines: "lines", Count: 2},
			{Name: "model", Values: []string{"a", "b"}},
		}, Inputs: []TaskInput{{1, 2, 0}, {2, 2, 1}}}}}
}

// There is a task for each combination, and the last axis varies fastest.
func TestArrayCombinations(t *testing.T) {
	s := arrayJob()
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for task := range s.Count {
		line := fmt.Sprint("line", s.Array.Line(task))
		var words []string
		for _, v := range s.Array.Values(task, line) {
			words = append(words, v.Name+"="+v.Value)
		}
		got = append(got, strings.Join(words, " "))
	}
	if want := "SKEP_INDEX=0 SKEP_LINE=line0 model=a"; got[0] != want {
		t.Errorf("first %q: want %q", got[0], want)
	}
	if want := "SKEP_INDEX=0 SKEP_LINE=line0 model=b"; got[1] != want {
		t.Errorf("second %q: want %q", got[1], want)
	}
	if want := "SKEP_INDEX=0 SKEP_LINE=line1 model=a"; got[2] != want {
		t.Errorf("third %q: want %q", got[2], want)
	}
	if want := "SKEP_INDEX=4 SKEP_LINE=line1 model=b"; got[11] != want {
		t.Errorf("last %q: want %q", got[11], want)
	}
	slices.Sort(got)
	if n := len(slices.Compact(got)); n != 12 {
		t.Errorf("%d combinations of 12", n)
	}
}

// A task has the inputs of all tasks and those of its own values. The share of the tasks that have one is what moving
// the mean task rests on.
func TestInputsOfATask(t *testing.T) {
	s := arrayJob()
	for task, want := range map[uint32][]BlobID{0: {{1}, {2}}, 1: {{1}, {3}}, 10: {{1}, {2}}, 11: {{1}, {3}}} {
		var got []BlobID
		for _, f := range s.InputsOf(task) {
			got = append(got, f.Blob)
		}
		if !slices.Equal(got, want) {
			t.Errorf("task %d has %v: want %v", task, got, want)
		}
	}
	sum := 0.0
	s.EachInput(func(f *File, share float64) { sum += share * float64(f.Size) })
	if sum != 10+50+500 {
		t.Errorf("a task has %g bytes in the mean: want 560", sum)
	}
	s.Array.Inputs = []TaskInput{{1, 2, 0}, {1, 0, 2}, {2, 2, 1}}
	if got := len(s.InputsOf(0)) + 10*len(s.InputsOf(8)); got != 21 {
		t.Errorf("of two conditions one is enough: %d", got)
	}
}

func TestArrayCheck(t *testing.T) {
	for want, change := range map[string]func(s *JobSpec){
		"count 5: the array has 12 combinations":         func(s *JobSpec) { s.Count = 5 },
		"want the need skep.arrays=1":                    func(s *JobSpec) { s.Needs.Labels = nil },
		`"model": is in it twice, or in env too`:         func(s *JobSpec) { s.Env = []Var{{"model", "x"}} },
		`"SKEP_X": want a name of letters`:               func(s *JobSpec) { s.Array.Axes[2].Name = "SKEP_X" },
		`"9a": want a name of letters`:                   func(s *JobSpec) { s.Array.Axes[2].Name = "9a" },
		`"other": has indices: want those of SKEP_INDEX`: func(s *JobSpec) { s.Array.Axes[0].Name = "other" },
		`"other": want lines of SKEP_LINE only`:          func(s *JobSpec) { s.Array.Axes[1].Name = "other" },
		"and an input of at most 16777216 bytes":         func(s *JobSpec) { s.Inputs[0].Size = MaxLines + 1 },
		`"SKEP_LINE": want lines of SKEP_LINE only`:      func(s *JobSpec) { s.Array.Axes[1].Lines = "elsewhere" },
		"SKEP_LINE only, and an input":                   func(s *JobSpec) { s.Inputs[1].Path = "lines" },
		"only some tasks have the input with its lines":  func(s *JobSpec) { s.Array.Inputs = []TaskInput{{0, 2, 0}} },
		`"model": has no value`:                          func(s *JobSpec) { s.Array.Axes[2].Values = nil },
		"0 variables: want 1 to 8":                       func(s *JobSpec) { s.Array.Axes = nil },
		"9 variables: want 1 to 8":                       func(s *JobSpec) { s.Array.Axes = make([]Axis, 9) },
		"more than 100000 tasks":                         func(s *JobSpec) { s.Array.Axes[1].Count = 1 << 31 },
		`value "x\x00": want at most 4096 bytes`:         func(s *JobSpec) { s.Array.Axes[2].Values[0] = "x\x00" },
		"bytes of values: want at most 32768":            func(s *JobSpec) { s.Array.Axes[2].Values = make([]string, 17000) },
		"input 1 of value 9 of variable 2: there is no":  func(s *JobSpec) { s.Array.Inputs[0].Value = 9 },
		"input 3 of value 0 of variable 2: there is no":  func(s *JobSpec) { s.Array.Inputs[0].Input = 3 },
		"input 1 of value 0 of variable 3: there is no":  func(s *JobSpec) { s.Array.Inputs[0].Axis = 3 },
		"4097 inputs of single values: want at most":     func(s *JobSpec) { s.Array.Inputs = make([]TaskInput, 4097) },
		"range 0-4:0: want FIRST-LAST:STEP":              func(s *JobSpec) { s.Array.Axes[0].Indices[0].Step = 0 },
	} {
		s := arrayJob()
		change(s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

// A record of a node that did not know arrays was never checked: reading it does no harm.
func TestUncheckedArray(t *testing.T) {
	s := arrayJob()
	s.Array = &Array{Axes: []Axis{{}, {Name: "a", Values: []string{"x"}}, {Indices: indices.Set{{First: 7}}}},
		Inputs: []TaskInput{{0, 0, 0}, {1, 9, 9}, {7, 1, 1}}}
	for task := range uint32(20) {
		s.Array.Values(task, "")
		s.InputsOf(task)
	}
	s.EachInput(func(*File, float64) {})
}

// Expand bounds what a word becomes: a peer's job may name a value of 4 KiB ten thousand times.
func TestExpandIsBounded(t *testing.T) {
	vars := []Var{{"a", strings.Repeat("x", 4096)}}
	if _, err := Expand(strings.Repeat("${a}", 10_000), vars, 1<<20); err == nil {
		t.Error("40 MB were made")
	}
	if got, err := Expand("${a", vars, 10); got != "${a" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if n := testing.AllocsPerRun(10, func() { Expand("--plain", vars, 100) }); n != 0 {
		t.Errorf("%v allocations for a word without variables", n)
	}
}

// What a version before put nowhere needs nodes that put it there.
func TestNeedsArrays(t *testing.T) {
	for _, c := range []struct {
		spec JobSpec
		want bool
	}{
		{JobSpec{Command: []string{"${SKEP_INDEX}"}}, false},
		{JobSpec{Env: []Var{{"A", "${SKEP_INDEX}"}}}, true},
		{JobSpec{Env: []Var{{"A", "${HOME}"}}}, false},
		{JobSpec{Outputs: []string{"${SKEP_INDEX}.csv"}}, true},
		{JobSpec{TaskData: TaskData{Array: &Array{}}}, true},
	} {
		if got := c.spec.NeedsArrays(); got != c.want {
			t.Errorf("%+v: %v", c.spec, got)
		}
	}
}
