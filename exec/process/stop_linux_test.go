package process

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"skep/exec/sandbox"
	"skep/grid"
)

// eventually polls until ok holds.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never: ", what)
		}
	}
}

// mark is a time to sleep that no other process sleeps.
func mark() string { return fmt.Sprintf("1000.%d%05d", os.Getpid(), attempts.Add(1)) }

// living counts the processes of the machine, zombies not, that have a mark in their command.
func living(mark string) (n int) {
	eachProcess(func(pid int) {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // that of a zombie is empty
		if strings.Contains(string(b), mark) {
			n++
		}
	})
	return n
}

func gone(mark string) bool { return living(mark) == 0 }

// deaf is a task of two processes that ignore SIGTERM; it says when they do.
func deaf(mark string) string {
	return `: ` + mark + `; trap "" TERM; (echo x; while :; do sleep 0.05; done) & echo x; while :; do sleep 0.05; done`
}

// says waits until the task has written n lines to its stdout.
func says(t *testing.T, s Spec, n int) {
	t.Helper()
	eventually(t, "the task says that it is ready", func() bool { return strings.Count(output(t, s, Stdout), "\n") >= n })
}

func TestTimeLimitEndsTheWholeGroup(t *testing.T) { both(t, testTimeLimitEndsTheWholeGroup) }

func testTimeLimitEndsTheWholeGroup(t *testing.T, r *Runner) {
	m := mark()
	s := spec(t, r, deaf(m))
	s.Timeout = 700 * time.Millisecond
	p := start(t, r, s)
	says(t, s, 2)
	if living(m) < 2 {
		t.Fatalf("%d processes", living(m))
	}
	res := wait(t, p)
	if res.Cause != TimedOut || res.Code() != 124 || res.Signal != int(syscall.SIGKILL) {
		t.Errorf("%v, code %d, signal %d (%s)", res.Cause, res.Code(), res.Signal, res.Error)
	}
	if least := s.Timeout + s.Grace; res.Wall < least || res.Wall > least+5*time.Second {
		t.Errorf("ended after %v, not soon after %v", res.Wall, least)
	}
	if !gone(m) {
		t.Errorf("%d processes still run", living(m))
	}
}

// Who fills the disk is not asked to save anything.
func TestFull(t *testing.T) {
	r := newRunner(t)
	m := mark()
	s := spec(t, r, deaf(m))
	s.Grace = time.Minute
	p := start(t, r, s)
	says(t, s, 2)
	p.Full("filled the disk")
	if res := wait(t, p); res.Cause != DiskExceeded || res.Code() != 128+int(syscall.SIGXFSZ) ||
		res.Error != "filled the disk" {
		t.Errorf("%v, code %d, %q", res.Cause, res.Code(), res.Error)
	}
	if !gone(m) {
		t.Errorf("%d processes still run", living(m))
	}
}

// A process that ignores SIGTERM and fills memory when it is asked to end, or left behind.
func init() {
	roles["late hog"] = func() {
		term := make(chan os.Signal, 1)
		signal.Notify(term, syscall.SIGTERM)
		if err := os.WriteFile("ready", nil, 0o600); err != nil {
			panic(err)
		}
		<-term
		roles["private"]()
	}
}

// A grace is for what a task does within its bounds.
func TestBoundsHoldDuringTheGrace(t *testing.T) { both(t, testBoundsHoldDuringTheGrace) }

func testBoundsHoldDuringTheGrace(t *testing.T, r *Runner) {
	const ready = `; while [ ! -e ready ]; do sleep 0.01; done; `
	for _, c := range []struct {
		name, script string
		end          func(*Process)
		cause        Cause
		code         int
	}{
		{"of what is left", `./role & :` + ready + `exit 3`, nil, Exited, 3},
		{"of a cancelled task", `./role & :` + ready + `echo x; trap "" TERM; while :; do sleep 0.05; done`,
			(*Process).Cancel, Cancelled, 143},
		{"of one that is full after that", `trap "" TERM; echo x; while :; do sleep 0.05; done`, func(p *Process) {
			p.Cancel()
			p.Full("filled the disk")
		}, Cancelled, 143},
	} {
		s := spec(t, r, c.script)
		role(t, r, &s, "late hog")
		s.Memory, s.Grace = hog*6/10, 15*time.Second
		p := start(t, r, s)
		if c.end != nil {
			says(t, s, 1)
			c.end(p)
		}
		if res := wait(t, p); res.Cause != c.cause || res.Code() != c.code || res.Wall >= s.Grace {
			t.Errorf("%s: %v, code %d, after %v: %s", c.name, res.Cause, res.Code(), res.Wall, res.Error)
		}
	}
}

func TestTermComesFirst(t *testing.T) { both(t, testTermComesFirst) }

func testTermComesFirst(t *testing.T, r *Runner) {
	s := spec(t, r, `trap 'echo saved; exit 0' TERM; echo ready; while :; do sleep 0.02; done`)
	s.Grace = 15 * time.Second
	p := start(t, r, s)
	eventually(t, "ready", func() bool { return output(t, s, Stdout) != "" })
	p.Cancel()
	p.Cancel()
	if res := wait(t, p); res.Cause != Cancelled || res.Code() != 143 || res.Exit != 0 ||
		output(t, s, Stdout) != "ready\nsaved\n" {
		t.Errorf("%v, code %d, exit %d, stdout %q", res.Cause, res.Code(), res.Exit, output(t, s, Stdout))
	}
	p.Cancel() // after the end: nothing
}

func TestStoppedTaskCanBeCancelled(t *testing.T) { both(t, testStoppedTaskCanBeCancelled) }

func testStoppedTaskCanBeCancelled(t *testing.T, r *Runner) {
	s := spec(t, r, `trap 'exit 9' TERM; echo $$; kill -STOP $$; while :; do sleep 0.02; done`)
	s.Grace = 15 * time.Second
	p := start(t, r, s)
	says(t, s, 1)
	p.Cancel()
	if res := wait(t, p); res.Exit != 9 {
		t.Errorf("exit %d, signal %d: SIGTERM did not arrive", res.Exit, res.Signal)
	}
}

func TestBackgroundChildrenEndWithTheMainProcess(t *testing.T) {
	both(t, func(t *testing.T, r *Runner) {
		for name, script := range map[string]string{
			"obedient": `sleep %s & exit 5`,
			"deaf":     `: %s; (trap "" TERM; echo x >deaf; while :; do sleep 0.05; done) & while [ ! -e deaf ]; do sleep 0.01; done; exit 5`,
		} {
			t.Run(name, func(t *testing.T) {
				m := mark()
				res, _ := run(t, r, spec(t, r, fmt.Sprintf(script, m)))
				if res.Code() != 5 || res.Cause != Exited {
					t.Errorf("%v, code %d: the leftover changed the result", res.Cause, res.Code())
				}
				if !gone(m) {
					t.Errorf("%d processes still run", living(m))
				}
			})
		}
	})
}

func TestProcessThatLeftItsGroupEnds(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("needs setsid")
	}
	both(t, func(t *testing.T, r *Runner) {
		m := mark()
		s := spec(t, r, `setsid sh -c 'echo $$; exec sleep `+m+`' & sleep 1000`)
		p := start(t, r, s)
		says(t, s, 1)
		p.Cancel()
		wait(t, p) // although the escaped one holds the pipe
		if r.sandbox.Boxes() && !gone(m) {
			t.Error("it has left its box")
		}
		eventually(t, "the escaped process ends", func() bool { return gone(m) })
	})
}

func TestSweepSparesAFolderThatIsUsedAgain(t *testing.T) {
	r := bareRunner(t)
	s := spec(t, r, `true`)
	run(t, r, s)
	s.Argv[2] = `while [ ! -e go ]; do sleep 0.01; done`
	p := start(t, r, s)
	r.watch.sweep()
	if err := os.WriteFile(filepath.Join(Work(s.Dir), "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if res := wait(t, p); res.Code() != 0 {
		t.Errorf("code %d: %s", res.Code(), res.Error)
	}
}

func TestCloseEndsAllTasks(t *testing.T) { both(t, testCloseEndsAllTasks) }

func testCloseEndsAllTasks(t *testing.T, r *Runner) {
	var ps []*Process
	m := mark()
	for range 5 {
		ps = append(ps, start(t, r, spec(t, r, `sleep `+m)))
	}
	late := spec(t, r, `true`)
	r.Close()
	for _, p := range ps {
		if res := wait(t, p); res.Cause != Cancelled {
			t.Errorf("%v", res.Cause)
		}
	}
	if !gone(m) {
		t.Errorf("%d tasks still run", living(m))
	}
	if _, err := r.Start(late); err != ErrClosed {
		t.Errorf("start after close: %v", err)
	}
}

// A process whose main thread has ended is still known by its environment.
func TestAttemptOfAProcessWithoutItsMainThread(t *testing.T) {
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), "PROCESS_TEST_ROLE="+leaderEnded, "THEN=private", Marker+"=/of/an/attempt")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	eventually(t, "its main thread ends", func() bool { return !hasMemory("/proc", c.Process.Pid) })
	if dir := attemptOf(c.Process.Pid); dir != "/of/an/attempt" {
		t.Errorf("attempt %q", dir)
	}
}

// node is a parent that starts a task and then does nothing until it is killed.
func init() {
	roles["node"] = func() {
		level, err := grid.ParseIsolation(os.Getenv("PROCESS_TEST_LEVEL"))
		if err != nil {
			panic(err)
		}
		data := os.Getenv("PROCESS_TEST_DIR")
		r, err := New(Options{Sandbox: sandbox.Options{Level: level, Work: filepath.Join(data, "work"),
			Dir: filepath.Join(data, "box")}})
		if err != nil {
			panic(err)
		}
		dir := filepath.Join(r.work, "attempt")
		if err := r.Prepare(dir, Account{}); err != nil {
			panic(err)
		}
		m := os.Getenv("PROCESS_TEST_MARK")
		script := fmt.Sprintf(`(trap "" TERM HUP; exec sleep %s1) & exec sleep %s2`, m, m)
		if _, err := r.Start(Spec{Argv: []string{"/bin/sh", "-c", script}, Dir: dir}); err != nil {
			panic(err)
		}
		fmt.Println("started")
		select {}
	}
}

// killedNode starts a node with a task that sleeps and a child of it that ignores signals, and kills it.
func killedNode(t *testing.T, level grid.Isolation, data, m string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	node := exec.Command(self)
	node.Env = append(os.Environ(), "PROCESS_TEST_ROLE=node", "PROCESS_TEST_DIR="+data, "PROCESS_TEST_MARK="+m,
		"PROCESS_TEST_LEVEL="+level.String())
	node.Stderr = os.Stderr
	out, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	defer node.Wait()
	defer node.Process.Kill()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "started\n" {
		t.Fatalf("node says %q, %v", line, err)
	}
	eventually(t, "both run", func() bool { return living("sleep\x00"+m) == 2 })
}

func TestNothingOfABoxOutlivesAKilledNode(t *testing.T) {
	if r := newRunner(t); !r.sandbox.Boxes() {
		t.Skip("no boxes here")
	}
	m := mark()
	killedNode(t, grid.IsolationBasic, t.TempDir(), m)
	eventually(t, "the task and its child end with their node", func() bool { return gone(m) })
}

func TestKilledNodeEndsItsTasksAndReapTheRest(t *testing.T) {
	data, m := bareRunner(t).work, mark()
	data = filepath.Dir(data)
	attempts := filepath.Join(data, "work")
	bystander := exec.Command("sleep", "1003") // of another attempt, elsewhere
	bystander.Env = append(os.Environ(), Marker+"="+attempts+"-other/attempt")
	bystander.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	defer bystander.Wait()
	defer bystander.Process.Kill()
	killedNode(t, grid.IsolationNone, data, m)
	eventually(t, "the task ends with its node", func() bool { return gone("sleep\x00" + m + "2") })
	if gone("sleep\x00" + m + "1") {
		t.Fatal("the child ended too: nothing to reap")
	}
	if n, err := Reap(attempts); n < 1 || err != nil {
		t.Errorf("reaped %d, %v", n, err)
	}
	eventually(t, "the leftover child ends", func() bool { return gone(m) })
	if unix.Kill(bystander.Process.Pid, 0) != nil {
		t.Error("a process of somebody else was reaped")
	}
	if n, err := Reap(attempts); n != 0 || err != nil {
		t.Errorf("reaped %d again, %v", n, err)
	}
	if n, err := Reap(filepath.Join(attempts, "missing")); n != 0 || err != nil {
		t.Errorf("reaped %d in a folder that is not there, %v", n, err)
	}
}
