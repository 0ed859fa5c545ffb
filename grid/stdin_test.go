package grid

import (
	"slices"
	"strings"
	"testing"
)

func TestCheckOfStdin(t *testing.T) {
	needed := slices.Clip([]LabelNeed{FeatureNeed(StdinLabel)})
	file := []File{{Path: "stdin", Blob: BlobID{1}}}
	streamed, kept := TaskData{Stdin: StdinStream}, TaskData{Stdin: StdinInput}
	screen := TaskData{Stdin: StdinStream, Terminal: Terminal{On: true, Rows: 24, Cols: 80}}
	tests := []struct {
		name string
		spec JobSpec
		want string // in the error; "" = none
	}{
		{"none", JobSpec{Retries: 2, Count: 9}, ""},
		{"streamed", JobSpec{TaskData: streamed, Count: 1, Needs: Needs{Labels: needed}}, ""},
		{"kept", JobSpec{TaskData: kept, Count: 9, Retries: 2, Inputs: file, Needs: Needs{Labels: needed}}, ""},
		{"to any node", JobSpec{TaskData: streamed, Count: 1}, "other nodes would run the tasks without"},
		{"streamed to two", JobSpec{TaskData: streamed, Count: 2, Needs: Needs{Labels: needed}}, "count 2: want 1"},
		{"streamed twice", JobSpec{TaskData: streamed, Count: 1, Retries: 1, Needs: Needs{Labels: needed}},
			"retries 1: want 0"},
		{"streamed and run again", JobSpec{TaskData: streamed, Count: 1, Needs: Needs{Labels: needed},
			Rules: Rules{OnFailure: OnFailure{Retry: 1, Rerun: true}}}, "on_failure.retry 1: want none"},
		{"kept nowhere", JobSpec{TaskData: kept, Count: 1, Needs: Needs{Labels: needed}}, "the last of no inputs"},
		{"kept for some", JobSpec{Count: 2, Inputs: file, Needs: Needs{Labels: needed},
			TaskData: TaskData{Stdin: StdinInput,
				Array: &Array{Axes: []Axis{{Name: "A", Values: []string{"1", "2"}}}, Inputs: []TaskInput{{}}}}},
			"an input of some tasks"},
		{"a terminal", JobSpec{TaskData: screen, Count: 1, Needs: Needs{Labels: append(needed, FeatureNeed(TerminalLabel))}},
			""},
		{"a terminal at any node", JobSpec{TaskData: screen, Count: 1, Needs: Needs{Labels: needed}},
			"needs.labels.skep.terminal 1"},
		{"a terminal of two", JobSpec{TaskData: screen, Count: 2,
			Needs: Needs{Labels: append(needed, FeatureNeed(TerminalLabel))}}, "count 2: want 1"},
		{"a terminal without keys", JobSpec{TaskData: TaskData{Terminal: Terminal{On: true}}, Count: 1,
			Needs: Needs{Labels: []LabelNeed{FeatureNeed(TerminalLabel)}}}, "terminal: want stdin 1 with it"},
		{"of a later version", JobSpec{TaskData: TaskData{Stdin: 3}, Count: 1, Needs: Needs{Labels: needed}},
			"stdin 3: want 0 to 2"},
	}
	for _, tt := range tests {
		s := tt.spec
		s.Engine, s.Command, s.Needs.CPU = EngineProcess, []string{"x"}, 1
		switch err := s.Check(); {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v: want no problem", tt.name, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v: want %q", tt.name, err, tt.want)
		}
	}
}

// The file that is read as standard input is in no work folder.
func TestWorkFilesAreTheOtherInputs(t *testing.T) {
	s := &JobSpec{Inputs: []File{{Path: "a"}, {Path: "b"}}}
	if n := len(s.WorkFiles()); n != 2 || s.StdinFile() != nil {
		t.Errorf("%d files, stdin %v: want both, and none", n, s.StdinFile())
	}
	s.Stdin = StdinInput
	if files := s.WorkFiles(); len(files) != 1 || files[0].Path != "a" || s.StdinFile().Path != "b" {
		t.Errorf("files %v, stdin %v: want a, and b", files, s.StdinFile())
	}
}
