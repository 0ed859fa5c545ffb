package p2p

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skep/exec/session"
	"skep/exec/terminal"
	"skep/grid"
	"skep/node/p2p/internal/rig"
)

// onTerminal returns the spec of a task with a terminal.
func onTerminal(script string) *grid.JobSpec {
	s := streamed(script)
	s.Terminal = grid.Terminal{On: true, Rows: 30, Cols: 100}
	s.Needs.Labels = append(s.Needs.Labels, grid.FeatureNeed(grid.TerminalLabel))
	return s
}

// awaitFile returns when there is a file.
func awaitFile(t *testing.T, name string) {
	rig.Await(t, "the task has come so far", func() bool {
		_, err := os.Stat(name)
		return err == nil
	})
}

func TestTaskHasItsSubmittersTerminal(t *testing.T) {
	everywhere(t, func(t *testing.T, a *member, nonce byte) {
		id := a.job(nonce)
		gate := filepath.Join(sharedFolder(t), "gate")
		script := `trap 'echo asked; exit 9' INT; until [ "$(stty size)" = "40 90" ]; do sleep 0.01; done
			stty size; read x; echo "got $x" >&2; touch ` + gate + `; while :; do sleep 0.01; done`
		if err := a.Submit(t.Context(), id, onTerminal(script)); err != nil {
			t.Fatal(err)
		}
		sizes := make(chan terminal.Size, 1)
		sizes <- terminal.Size{Rows: 40, Cols: 90}
		keys, w := io.Pipe()
		defer w.Close()
		go func() {
			io.WriteString(w, "words\n")
			awaitFile(t, gate)
			io.WriteString(w, "\x03")
		}()
		typing := session.Typing(keys, sizes)
		defer typing.Close()
		if all, err := a.Stdin(t.Context(), grid.TaskID{Job: id}, typing); all || err != nil {
			t.Errorf("all %v, %v: want the end of the task told", all, err)
		}
		r := a.result(grid.TaskID{Job: id})
		out := string(r.Stdout.Inline)
		for _, want := range []string{"40 90\r\n", "got words\r\n", "asked\r\n"} {
			if !strings.Contains(out, want) {
				t.Errorf("it printed %q: want %q in it", out, want)
			}
		}
		if r.Exit != 9 || r.Stderr.Size > 0 {
			t.Errorf("%+v: want its own code, and one stream", r)
		}
	})
}

// A task whose terminal is lost is stopped, and its end says why; there is no end of a terminal that is in order.
func TestLostTerminalStopsTheTask(t *testing.T) {
	everywhere(t, func(t *testing.T, a *member, nonce byte) {
		id, gate := a.job(nonce), filepath.Join(sharedFolder(t), "gate")
		err := a.Submit(t.Context(), id, onTerminal("stty size; touch "+gate+"; cat; echo took it for the end"))
		if err != nil {
			t.Fatal(err)
		}
		keys, w := io.Pipe()
		go func() {
			awaitFile(t, gate)
			w.Close()
		}()
		typing := session.Typing(keys, nil)
		defer typing.Close()
		if all, err := a.Stdin(t.Context(), grid.TaskID{Job: id}, typing); all {
			t.Errorf("all of it was taken, %v", err)
		}
		r := a.result(grid.TaskID{Job: id})
		if !strings.Contains(string(r.Stdout.Inline), "30 100\r\n") {
			t.Errorf("it printed %q: want the size that its submitter stated", r.Stdout.Inline)
		}
		if r.Cause != grid.Cancelled || r.Exit != grid.ExitSkep || !strings.Contains(r.Error, "its terminal was lost") ||
			strings.Contains(string(r.Stdout.Inline), "took it") {
			t.Errorf("result %+v, %q: want it stopped, with the reason", r, r.Stdout.Inline)
		}
	})
}
