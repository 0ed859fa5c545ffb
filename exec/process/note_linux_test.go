//go:build linux

package process

import (
	"os"
	"testing"
)

// A line of the node's own stands apart from what the task prints; after its end there is none.
func TestNote(t *testing.T) {
	both(t, func(t *testing.T, r *Runner) {
		s := spec(t, r, "printf half >&2; echo out; read x; echo whole >&2; read x")
		read, write, err := r.InputPipe(s.Dir)
		if err != nil {
			t.Fatal(err)
		}
		defer read.Close()
		s.Stdin = read
		p, err := r.Start(s)
		if err != nil {
			t.Fatal(err)
		}
		has := func(want string) {
			t.Helper()
			eventually(t, "stderr has "+want, func() bool {
				text, _ := os.ReadFile(Output(s.Dir, Stderr))
				return string(text) == want
			})
		}
		has("half")
		p.Note("skep: one")
		has("half\nskep: one\n")
		write.Write([]byte("go\n"))
		has("half\nskep: one\nwhole\n")
		p.Note("skep: two")
		has("half\nskep: one\nwhole\nskep: two\n")
		write.Close()
		p.Wait()
		p.Note("skep: three")
		has("half\nskep: one\nwhole\nskep: two\n")
	})
}
