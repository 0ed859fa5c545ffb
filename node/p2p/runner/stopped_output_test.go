package runner

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"skep/exec/process"
	"skep/grid"
)

// The output of the newest stopped attempts is had when their folders are gone, by those who may ask, and no more of
// them are kept than the bound says.
func TestStoppedOutput(t *testing.T) {
	var s stoppedOutput
	defer s.closeAll()
	dir := filepath.Join(t.TempDir(), "attempt")
	id := func(k int) grid.AttemptID { return grid.AttemptID{Task: grid.TaskID{Index: uint32(k)}} }
	member := grid.NodeID{7}
	for k := range maxStopped + 3 {
		if err := os.WriteFile(process.Output(dir, process.Stdout), fmt.Appendf(nil, "task %d", k), 0o600); err != nil {
			t.Fatal(err)
		}
		s.keep(id(k), dir, []grid.NodeID{member})
		if err := process.Remove(dir); err != nil {
			t.Fatal(err)
		}
	}
	read := func(k int, stream process.Stream, offset int64) string {
		r, err := s.open(id(k), stream, offset)
		if err != nil {
			if !NoOutput(err) {
				t.Errorf("task %d: %v", k, err)
			}
			return "none"
		}
		defer r.Close()
		b, _ := io.ReadAll(r)
		return string(b)
	}
	for _, c := range []struct {
		task   int
		stream process.Stream
		offset int64
		want   string
	}{{3, process.Stdout, 0, "task 3"}, {66, process.Stdout, 5, "66"}, {66, process.Stdout, 99, ""},
		{66, process.Stderr, 0, "none"}, {2, process.Stdout, 0, "none"}, {99, process.Stdout, 0, "none"}} {
		if got := read(c.task, c.stream, c.offset); got != c.want {
			t.Errorf("task %d from %d: %q: want %q", c.task, c.offset, got, c.want)
		}
	}
	if !s.mayRead(id(66), member) || s.mayRead(id(66), grid.NodeID{8}) || s.mayRead(id(2), member) {
		t.Error("others than the members may read it")
	}
}
