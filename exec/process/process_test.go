package process

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"skep/exec/sandbox"
	"skep/grid"
)

// TestMain runs the roles that some tests give to copies of the test binary, and looks for
// goroutines that were left behind.
func TestMain(m *testing.M) {
	if role := os.Getenv("PROCESS_TEST_ROLE"); role != "" {
		roles[role]()
		return
	}
	// Tests that run side by side wait for their tasks most of the time: unless -parallel says how many there are.
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

var roles = map[string]func(){}

// newRunner makes a runner with the boxes that this machine has. Attempts are in a folder of their own, since a box is
// made of what is there.
func newRunner(t testing.TB) *Runner { return newRunnerWith(t, grid.IsolationBasic) }

// bareRunner makes one without boxes.
func bareRunner(t testing.TB) *Runner { return newRunnerWith(t, grid.IsolationNone) }

func newRunnerWith(t testing.TB, level grid.Isolation) *Runner {
	t.Helper()
	data, err := os.MkdirTemp("", "skep-process-") // t.TempDir lets no other user pass
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(data, 0o711); err != nil {
		t.Fatal(err)
	}
	r, err := New(Options{Sandbox: sandbox.Options{Level: level, Work: filepath.Join(data, "work"),
		Dir:    filepath.Join(data, "box"),
		Hidden: []string{data}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Close()
		if err := removeTree(data); err != nil {
			t.Error(err)
		}
	})
	return r
}

// both runs a test with boxes and without, beside others: such tests wait for their tasks most of the time.
func both(t *testing.T, test func(*testing.T, *Runner)) {
	t.Parallel()
	for name, runner := range runners {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, runner(t))
		})
	}
}

// inTurn is both for a test that must be alone.
func inTurn(t *testing.T, test func(*testing.T, *Runner)) {
	for name, runner := range runners {
		t.Run(name, func(t *testing.T) { test(t, runner(t)) })
	}
}

var runners = map[string]func(testing.TB) *Runner{"boxed": newRunner, "bare": bareRunner}

var attempts atomic.Int64

// spec is a prepared attempt of a shell script.
func spec(t testing.TB, r *Runner, script string) Spec {
	t.Helper()
	dir := filepath.Join(r.work, fmt.Sprint("attempt-", attempts.Add(1)))
	if err := r.Prepare(dir, Account{}); err != nil {
		t.Fatal(err)
	}
	return Spec{Argv: []string{"/bin/sh", "-c", script}, Dir: dir, Grace: 200 * time.Millisecond}
}

// role makes the task a copy of the test binary that plays a role.
func role(t testing.TB, r *Runner, s *Spec, name string) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	put(t, r, *s, "role", string(b), 0o755)
	s.Env = append(s.Env, "PROCESS_TEST_ROLE="+name)
}

// put writes a file into the work folder of an attempt, as its user's.
func put(t testing.TB, r *Runner, s Spec, name, content string, mode os.FileMode) {
	t.Helper()
	path := filepath.Join(Work(s.Dir), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	if id := int(r.Owner(s.Dir).UID); id != 0 {
		for at := path; at != s.Dir; at = filepath.Dir(at) {
			if err := os.Lchown(at, id, id); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func start(t testing.TB, r *Runner, s Spec) *Process {
	t.Helper()
	p, err := r.Start(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// wait fails the test instead of hanging.
func wait(t testing.TB, p *Process) Result {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(time.Minute):
		t.Fatal("the task does not end")
	}
	return p.Wait()
}

func output(t testing.TB, s Spec, stream Stream) string {
	t.Helper()
	b, err := os.ReadFile(Output(s.Dir, stream))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(b)
}

// run is start, wait and stdout.
func run(t testing.TB, r *Runner, s Spec) (Result, string) {
	t.Helper()
	res := wait(t, start(t, r, s))
	return res, output(t, s, Stdout)
}

func TestExitCodes(t *testing.T) { both(t, testExitCodes) }

func testExitCodes(t *testing.T, r *Runner) {
	for _, c := range []struct {
		script string
		cause  Cause
		code   int
	}{
		{"exit 0", Exited, 0},
		{"exit 3", Exited, 3},
		{"exit 255", Exited, 255},
		{"kill -KILL $$", Signaled, 137},
		{"kill -SEGV $$", Signaled, 139},
		{"exit 143", Exited, 143}, // says so itself
	} {
		res, _ := run(t, r, spec(t, r, c.script))
		if res.Cause != c.cause || res.Code() != c.code {
			t.Errorf("%q: %v, code %d; want %v, %d", c.script, res.Cause, res.Code(), c.cause, c.code)
		}
		if res.Wall <= 0 || res.Started.IsZero() {
			t.Errorf("%q: wall %v, started %v", c.script, res.Wall, res.Started)
		}
	}
}

func TestOutputsAreKeptApartAndStdinIsEmpty(t *testing.T) {
	both(t, testOutputsAreKeptApartAndStdinIsEmpty)
}

func testOutputsAreKeptApartAndStdinIsEmpty(t *testing.T, r *Runner) {
	s := spec(t, r, `echo out; echo err >&2; echo again >/dev/stdout; wc -c`)
	if res, out := run(t, r, s); res.Code() != 0 || out != "out\nagain\n0\n" || output(t, s, Stderr) != "err\n" {
		t.Errorf("code %d, stdout %q, stderr %q", res.Code(), out, output(t, s, Stderr))
	}
}

func TestEnvironmentIsNotInherited(t *testing.T) {
	t.Setenv("NODE_SECRET", "hunter2")
	t.Setenv("LANG", "eo.UTF-8")
	inTurn(t, testEnvironmentIsNotInherited)
}

func testEnvironmentIsNotInherited(t *testing.T, r *Runner) {
	s := spec(t, r, `env; pwd; umask`)
	s.Env = []string{"MODE=slow", "MODE=fast", "SKEP_INDEX=7", Marker + "=/elsewhere"}
	_, out := run(t, r, s)
	if strings.Contains(out, "hunter2") {
		t.Errorf("the task sees a variable of the node:\n%s", out)
	}
	work, temp, marker := Work(s.Dir), filepath.Join(s.Dir, "tmp"), Marker+"="+s.Dir
	if r.sandbox.Boxes() {
		work, temp, marker = "/task/work", "/task/tmp", "MODE=fast"
	}
	for _, line := range []string{"MODE=fast", "SKEP_INDEX=7", "LANG=eo.UTF-8", "HOME=" + work, "TMPDIR=" + temp, marker,
		work, "0077"} {
		if !strings.Contains("\n"+out, "\n"+line+"\n") {
			t.Errorf("no line %q in\n%s", line, out)
		}
	}
}

func TestProgramsThatCannotRun(t *testing.T) { both(t, testProgramsThatCannotRun) }

func testProgramsThatCannotRun(t *testing.T, r *Runner) {
	for _, c := range []struct {
		name, file string
		mode       os.FileMode
		argv0      string
		code       int
	}{
		{"not in PATH", "", 0, "no-such-program-anywhere", 127},
		{"no such file", "", 0, "./missing", 127},
		{"no such folder", "", 0, "/bin/sh/missing", 127},
		{"not executable", "#!/bin/sh\n", 0o644, "./prog", 126},
		{"a folder", "", 0, "/etc/", 126},
		{"no format that the kernel knows", "\x00\x01\x02", 0o755, "./prog", 126},
		{"another architecture", "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x02\x00\x16\x00" +
			strings.Repeat("\x00", 44), 0o755, "./prog", 126},
		{"no interpreter", "#!/no/such/interpreter\n", 0o755, "./prog", 126},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := spec(t, r, "")
			s.Argv = []string{c.argv0}
			if c.file != "" {
				put(t, r, s, "prog", c.file, c.mode)
			}
			_, err := r.Start(s)
			var no *ExecError
			if !errors.As(err, &no) || no.Code() != c.code {
				t.Errorf("error %v, want an ExecError with code %d", err, c.code)
			}
		})
	}
}

func TestProgramInWorkFolderAndInPath(t *testing.T) { both(t, testProgramInWorkFolderAndInPath) }

func testProgramInWorkFolderAndInPath(t *testing.T, r *Runner) {
	s := spec(t, r, "")
	put(t, r, s, "bin/hello", "#!/bin/sh\necho $1\n", 0o755)
	s.Argv = []string{"bin/hello", "slash"}
	if _, out := run(t, r, s); out != "slash\n" {
		t.Errorf("by relative path: %q", out)
	}
	s.Argv, s.Env = []string{"hello", "path"}, []string{"PATH=bin:/usr/bin:/bin"}
	if _, out := run(t, r, s); out != "path\n" {
		t.Errorf("by the job's own PATH: %q", out)
	}
}

func TestBadSpecReportsAllAtOnce(t *testing.T) {
	_, err := newRunner(t).Start(Spec{Dir: "relative", Memory: -1, Part: Part{Share: 2}, Env: []string{"x"}})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, word := range []string{"command is empty", "absolute", "memory -1", "share 2", `variable "x"`} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("no %q in %v", word, err)
		}
	}
}

func TestOutputBeyondItsBoundIsDroppedAndCounted(t *testing.T) {
	both(t, testOutputBeyondItsBoundIsDroppedAndCounted)
}

func testOutputBeyondItsBoundIsDroppedAndCounted(t *testing.T, r *Runner) {
	s := spec(t, r, `head -c 3000000 /dev/zero; head -c 500 /dev/zero >&2; exit 4`)
	s.MaxOutput = 100_000
	res, out := run(t, r, s)
	if res.Code() != 4 || len(out) != 100_000 || res.StdoutDropped != 2_900_000 || res.StderrDropped != 0 {
		t.Errorf("code %d, kept %d, dropped %d and %d", res.Code(), len(out), res.StdoutDropped, res.StderrDropped)
	}
}

func TestTailFollowsUntilTheEnd(t *testing.T) { both(t, testTailFollowsUntilTheEnd) }

func testTailFollowsUntilTheEnd(t *testing.T, r *Runner) {
	s := spec(t, r, `echo one; while [ ! -e go ]; do sleep 0.01; done; echo two`)
	p := start(t, r, s)
	tail, err := p.Tail(context.Background(), Stdout, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tail.Close()
	b := make([]byte, 100)
	if n, err := tail.Read(b); err != nil || string(b[:n]) != "one\n" {
		t.Fatalf("first %q, %v", b[:n], err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	impatient, err := p.Tail(ctx, Stdout, 4)
	if err != nil {
		t.Fatal(err)
	}
	defer impatient.Close()
	if _, err := impatient.Read(b); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a read of nothing ended with %v", err)
	}
	if err := os.WriteFile(filepath.Join(Work(s.Dir), "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(tail); err != nil || string(rest) != "two\n" {
		t.Errorf("rest %q, %v", rest, err)
	}
	wait(t, p)
	late, err := p.Tail(context.Background(), Stdout, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	if all, err := io.ReadAll(late); err != nil || string(all) != "e\ntwo\n" {
		t.Errorf("after the end %q, %v", all, err)
	}
}

func TestRemoveTakesFoldersWithoutPermissions(t *testing.T) {
	both(t, testRemoveTakesFoldersWithoutPermissions)
}

func testRemoveTakesFoldersWithoutPermissions(t *testing.T, r *Runner) {
	s := spec(t, r, `mkdir -p a/b; touch a/b/c; chmod 0 a/b a; chmod 0 ../tmp .; echo x`)
	run(t, r, s)
	if err := r.Remove(s.Dir); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{s.Dir, Output(s.Dir, Stdout)} {
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", path, err)
		}
	}
}

func init() {
	roles["deep"] = func() {
		for range 5000 {
			if err := errors.Join(os.Mkdir("d", 0o700), unix.Chdir("d")); err != nil {
				panic(err)
			}
		}
	}
}

// What is nested deeper than a path can say, or than a process can open, goes too, and no link is followed.
func TestRemoveTakesWhateverATaskMade(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	s := spec(t, r, `ln -s "$OUT" link; mkdir deaf; ln -s "$OUT" deaf/link; chmod 0 deaf; exec ./role`)
	role(t, r, &s, "deep")
	outside := t.TempDir()
	if err := os.Chmod(outside, 0o500); err != nil {
		t.Fatal(err)
	}
	s.Env = append(s.Env, "OUT="+outside)
	if res, _ := run(t, r, s); res.Code() != 0 {
		t.Fatalf("code %d: %s", res.Code(), output(t, s, Stderr))
	}
	if err := r.Remove(s.Dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(s.Dir); !os.IsNotExist(err) {
		t.Errorf("still there: %v", err)
	}
	if info, err := os.Stat(outside); err != nil || info.Mode().Perm() != 0o500 {
		t.Errorf("a folder that a link named has changed: %v, %v", info, err)
	}
}

// Code is 126 or 127.
func (e *ExecError) Code() int { return Result{Cause: e.Cause}.Code() }
