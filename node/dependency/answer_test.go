package dependency

import (
	"strings"
	"testing"

	"skep/grid"
)

// A job that reads a file of a task which it is not told of, or which left none of that name, ends with the reason and
// what would be right.
func TestFilesThatAreNotThere(t *testing.T) {
	spec := &grid.JobSpec{TaskData: grid.TaskData{After: grid.After{Inputs: []grid.JobInput{
		{Of: 0, Task: 3, Path: "./part", To: "in"}}}}}
	left := &grid.Result{Cause: grid.Exited, Outputs: []grid.File{{Path: "part", Size: 7}}}
	for _, c := range []struct {
		left *grid.Result
		want string
	}{
		{nil, "files of task 3: a node tells of 256 KiB of names of files at most: want fewer outputs"},
		{&grid.Result{Cause: grid.Exited}, `has left no file "./part"`},
		{left, ""},
	} {
		r := collect(&grid.Result{Cause: grid.Exited}, spec, 0, "job abc, which it was to follow, ",
			func(uint32) *grid.Result { return c.left })
		if c.want == "" {
			if r.Error != "" || len(r.Outputs) != 1 || r.Outputs[0].Path != "in" || r.Outputs[0].Size != 7 {
				t.Errorf("%+v: want the file under its new name", r)
			}
			continue
		}
		if r.Cause != grid.Failed || r.Exit != grid.ExitSkep || !strings.Contains(r.Error, c.want) {
			t.Errorf("%v: %+v: want %q", c.left, r, c.want)
		}
	}
}
