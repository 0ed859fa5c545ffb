package process

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"skep/exec/progress"
	"skep/grid"
)

// asking is an attempt whose progress is asked for: what it says, and its standard input, which a script may wait for.
func asking(t *testing.T, r *Runner, script string) (s Spec, said chan grid.Progress, input *os.File) {
	t.Helper()
	s, said = spec(t, r, script), make(chan grid.Progress, 100)
	s.Progress = func(p grid.Progress) { said <- p }
	read, write, err := r.InputPipe(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { read.Close(); write.Close() })
	s.Stdin = read
	return s, said, write
}

func TestTaskSaysItsProgress(t *testing.T) {
	both(t, func(t *testing.T, r *Runner) {
		for _, strict := range []bool{false, true} {
			s, said, input := asking(t, r, `echo "progress 3 10 half way" >"$SKEP_PROGRESS"; read x; ls -A`)
			s.Strict = strict
			p, err := r.Start(s)
			if err != nil {
				t.Fatal(err)
			}
			select {
			case got := <-said:
				if want := (grid.Progress{Done: 3, Total: 10, Text: "half way"}); got != want {
					t.Errorf("said %+v: want %+v", got, want)
				}
			case <-time.After(time.Minute):
				t.Error("nothing was said")
			}
			input.Close()
			if end := p.Wait(); end.Exit != 0 {
				t.Errorf("it ended with %+v", end)
			}
			if text, _ := os.ReadFile(Output(s.Dir, Stdout)); len(text) > 0 {
				t.Errorf("its work folder has %q, want nothing of the node's", text)
			}
		}
	})
}

// However much a task writes, and though nobody takes what it says, it does not wait.
func TestProgressNeverHoldsATaskUp(t *testing.T) {
	both(t, func(t *testing.T, r *Runner) {
		s := spec(t, r, `echo "progress 1 2" >"$SKEP_PROGRESS"; head -c 3000000 /dev/zero >"$SKEP_PROGRESS"; echo written`)
		free := make(chan struct{})
		s.Progress = func(grid.Progress) { <-free }
		p := start(t, r, s)
		tail, err := p.Tail(t.Context(), Stdout, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer tail.Close()
		b := make([]byte, 100)
		if n, err := tail.Read(b); err != nil || string(b[:n]) != "written\n" {
			t.Errorf("it printed %q, %v: want that it has written all", b[:n], err)
		}
		close(free)
		if end := p.Wait(); end.Exit != 0 {
			t.Errorf("it ended with %+v", end)
		}
	})
}

// A task whose progress nobody asks for has no variable, and one that a job sets is not the node's.
func TestProgressIsAskedFor(t *testing.T) {
	both(t, func(t *testing.T, r *Runner) {
		s := spec(t, r, `echo "${SKEP_PROGRESS-none}"`)
		if _, out := run(t, r, s); out != "none\n" {
			t.Errorf("where it is not asked for: %q", out)
		}
		s, _, input := asking(t, r, `[ -p "$SKEP_PROGRESS" ] && echo "$SKEP_PROGRESS"`)
		input.Close()
		s.Env = []string{progress.Variable + "=/dev/null"}
		want := filepath.Join(r.seen(s.Dir).temp, progress.Name) + "\n"
		if _, out := run(t, r, s); out != want {
			t.Errorf("where it is: %q, want %q", out, want)
		}
	})
}
