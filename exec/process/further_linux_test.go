//go:build amd64 || arm64

package process

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skep/exec/terminal"
)

// follow starts a task, and returns what it prints.
func follow(t *testing.T, r *Runner, s Spec) (*Process, *bufio.Reader) {
	t.Helper()
	p, err := r.Start(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Cancel(); p.Wait() })
	out, err := p.Tail(t.Context(), Stdout, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	return p, bufio.NewReader(out)
}

// running starts a task that prints ready, and waits until it has.
func running(t *testing.T, r *Runner, s Spec) *Process {
	t.Helper()
	p, out := follow(t, r, s)
	if line, err := out.ReadString('\n'); line != "ready\n" {
		t.Fatalf("the task printed %q, %v", line, err)
	}
	return p
}

// runBeside runs a command beside a task, and returns what it printed and its code.
func runBeside(t *testing.T, r *Runner, p *Process, c Command, input string) (out, errs string, code int) {
	t.Helper()
	f, err := r.Exec(p, c)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	late := time.AfterFunc(30*time.Second, f.Kill)
	defer late.Stop()
	io.WriteString(f.Input(), input)
	f.Input().Close()
	printed, err := io.ReadAll(f.Stdout())
	if err != nil {
		t.Error(err)
	}
	var told []byte
	if !f.Terminal() {
		told, _ = io.ReadAll(f.Stderr())
	}
	code, _ = f.Wait()
	return string(printed), string(told), code
}

func shell(script string) Command { return Command{Argv: []string{"sh", "-c", script}} }

// A further command has the task's folder, environment and processes, and streams of its own.
func TestFurtherCommandIsInTheTasksBox(t *testing.T) { both(t, testFurtherCommandIsInTheTasksBox) }

func testFurtherCommandIsInTheTasksBox(t *testing.T, r *Runner) {
	s := spec(t, r, `echo mine >f; echo $$ >pid; echo ready; exec sleep 1000`)
	s.Env = []string{"SEED=7", "MODE=task"}
	p := running(t, r, s)
	c := shell(`cat f; echo $SEED $MODE; tr '\0' ' ' </proc/$(cat pid)/cmdline; echo; cat; echo wrong >&2; exit 5`)
	c.Env = []string{"MODE=mine"}
	out, errs, code := runBeside(t, r, p, c, "input\n")
	if out != "mine\n7 mine\nsleep 1000 \ninput\n" || errs != "wrong\n" || code != 5 {
		t.Errorf("%q, %q, code %d", out, errs, code)
	}
	if _, _, code := runBeside(t, r, p, shell(`kill -9 $$`), ""); code != 137 {
		t.Errorf("killed: code %d", code)
	}
	_, err := r.Exec(p, Command{Argv: []string{"missing"}})
	if no := (*ExecError)(nil); !errors.As(err, &no) || no.Cause != NotFound {
		t.Errorf("a program that is not there: %v", err)
	}
	if _, err := r.Exec(p, Command{}); err == nil {
		t.Error("an empty command was run")
	}
}

// What the kernel holds a task to, it holds further commands to.
func TestFurtherCommandIsBoundAsTheTask(t *testing.T) { both(t, testFurtherCommandIsBoundAsTheTask) }

func testFurtherCommandIsBoundAsTheTask(t *testing.T, r *Runner) {
	const look = `id; cat /proc/self/limits; grep -E '^(Cap|NoNewPrivs|Seccomp)' /proc/self/status; pwd; umask
		for f in /usr/x /etc/x /x /dev/x; do (echo >$f) 2>/dev/null && echo wrote $f; done
		cat /proc/self/cgroup /proc/self/oom_score_adj; ls -l /proc/self/ns | grep -o '[a-z]*:.*'`
	s := spec(t, r, `(`+look+`) >seen 2>&1; echo ready; exec sleep 1000`)
	s.MaxProcs, s.MaxFile, s.Timeout = 100, 1<<20, time.Hour
	p := running(t, r, s)
	out, _, code := runBeside(t, r, p, shell(`(`+look+`) >>other 2>&1; cmp seen other`), "")
	if code != 0 {
		task, _ := os.ReadFile(filepath.Join(Work(s.Dir), "seen"))
		other, _ := os.ReadFile(filepath.Join(Work(s.Dir), "other"))
		t.Errorf("%s\nthe task:\n%s\nbeside it:\n%s", out, task, other)
	}
}

// It ends with its task, whatever it makes of signals, and none is run after that.
func TestFurtherCommandEndsWithItsTask(t *testing.T) { both(t, testFurtherCommandEndsWithItsTask) }

func testFurtherCommandEndsWithItsTask(t *testing.T, r *Runner) {
	s := spec(t, r, `echo ready; until [ -e end ]; do sleep 0.01; done`)
	s.Grace = time.Hour // its result waits for no such command
	p := running(t, r, s)
	f, err := r.Exec(p, shell(`trap '' TERM HUP; echo begun; while :; do sleep 1; done`))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	bufio.NewReader(f.Stdout()).ReadString('\n')
	put(t, r, s, "end", "", 0o644)
	if code, why := f.Wait(); code != 137 || !strings.Contains(why, "the task has ended") {
		t.Errorf("code %d, %q", code, why)
	}
	if res := p.Wait(); res.Code() != 0 {
		t.Errorf("the task: %+v", res)
	}
	if _, err := r.Exec(p, shell("true")); !errors.Is(err, ErrOver) {
		t.Errorf("after the end: %v", err)
	}
}

// Killing it kills what it has started, and not the task.
func TestFurtherCommandIsKilledWithItsGroup(t *testing.T) {
	both(t, testFurtherCommandIsKilledWithItsGroup)
}

func testFurtherCommandIsKilledWithItsGroup(t *testing.T, r *Runner) {
	p := running(t, r, spec(t, r, `echo ready; until [ -e end ]; do sleep 0.01; done; exit 3`))
	f, err := r.Exec(p, shell(`sleep 1000 & echo begun; wait`))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewReader(f.Stdout())
	in.ReadString('\n')
	f.Kill()
	if code, _ := f.Wait(); code != 137 {
		t.Errorf("code %d", code)
	}
	if _, err := in.ReadString('\n'); err != io.EOF { // all that could print are gone
		t.Error(err)
	}
	put(t, r, p.spec, "end", "", 0o644)
	if res := p.Wait(); res.Code() != 3 {
		t.Errorf("the task: %+v", res)
	}
}

// A terminal is the command's controlling one: it has the size that it was given, tells of another, and its keys are
// signals.
func TestFurtherCommandHasATerminal(t *testing.T) { both(t, testFurtherCommandHasATerminal) }

func testFurtherCommandHasATerminal(t *testing.T, r *Runner) {
	p := running(t, r, spec(t, r, `echo ready; exec sleep 1000`))
	c := shell(`trap 'stty size' WINCH; trap 'echo asked; exit 9' INT; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && stty size
		echo one </dev/tty >/dev/tty; cat /dev/null </dev/stdin && echo two >/dev/stdout; read x; echo got $x
		while :; do sleep 0.01; done`)
	c.Terminal = &terminal.Size{Rows: 33, Cols: 111}
	f, err := r.Exec(p, c)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	late := time.AfterFunc(30*time.Second, f.Kill)
	defer late.Stop()
	in := bufio.NewReader(f.Stdout())
	until := func(want string) {
		t.Helper()
		var all []string
		for {
			line, err := in.ReadString('\n')
			if all = append(all, line); strings.HasSuffix(strings.TrimSpace(line), want) {
				return
			}
			if err != nil {
				t.Fatalf("%q, %v: want %q", all, err, want)
			}
		}
	}
	until("33 111")
	until("one")
	until("two")
	io.WriteString(f.Input(), "words\n")
	until("got words")
	if err := f.Resize(terminal.Size{Rows: 50, Cols: 80}); err != nil {
		t.Error(err)
	}
	until("50 80")
	io.WriteString(f.Input(), "\x03")
	until("asked")
	if code, _ := f.Wait(); code != 9 {
		t.Errorf("code %d", code)
	}
	if rest, err := io.ReadAll(in); err != nil {
		t.Errorf("%q, %v: want the end of the terminal", rest, err)
	}
}

// A task may have a terminal itself: what it prints there is its stdout, keys are its input and its signals, and one
// that has let go of it is not hung up.
func TestTaskHasATerminal(t *testing.T) { both(t, testTaskHasATerminal) }

func testTaskHasATerminal(t *testing.T, r *Runner) {
	s := spec(t, r, `[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && stty size </dev/tty; trap 'stty size' WINCH
		trap 'echo asked; exec sh -c "sleep 0.1; echo later >f; exit 9" </dev/null >/dev/null 2>&1' INT
		echo ready >&2; read x; echo got $x; while :; do sleep 0.01; done`)
	s.Terminal = &terminal.Size{Rows: 33, Cols: 111}
	p, in := follow(t, r, s)
	until := func(want string) {
		t.Helper()
		for {
			line, err := in.ReadString('\n')
			if strings.HasSuffix(strings.TrimSpace(line), want) {
				return
			}
			if err != nil {
				t.Fatalf("%q, %v: want %q", line, err, want)
			}
		}
	}
	until("33 111")
	until("ready")
	p.Type([]byte("words\n"))
	until("got words")
	if err := p.Resize(terminal.Size{Rows: 50, Cols: 80}); err != nil {
		t.Error(err)
	}
	until("50 80")
	p.Type([]byte("\x03"))
	until("asked")
	if res := p.Wait(); res.Code() != 9 {
		t.Errorf("%+v", res)
	}
	if b, _ := os.ReadFile(filepath.Join(Work(s.Dir), "f")); string(b) != "later\n" {
		t.Error("it was hung up")
	}
	if err := p.Type([]byte("x")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("typed after the end: %v", err)
	}
}
