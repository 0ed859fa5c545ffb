package process

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
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

// gone says whether no process has this ID, or only a zombie that is not ours to reap.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	return strings.HasPrefix(string(stat[strings.LastIndexByte(string(stat), ')'):]), ") Z")
}

// pids waits until the task has written n process IDs to its stdout, and returns them.
func pids(t *testing.T, s Spec, n int) (ids []int) {
	t.Helper()
	eventually(t, "the task says its process IDs", func() bool {
		lines := strings.Fields(output(t, s, Stdout))
		if len(lines) < n {
			return false
		}
		ids = nil
		for _, l := range lines {
			id, err := strconv.Atoi(l)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		return true
	})
	return ids
}

// deaf is a task of two processes that ignore SIGTERM; both say their ID when they do.
const deaf = `trap "" TERM; (echo $(exec sh -c 'echo $PPID'); while :; do sleep 0.05; done) & echo $$; while :; do sleep 0.05; done`

func TestTimeLimitEndsTheWholeGroup(t *testing.T) {
	r := newRunner(t)
	s := spec(t, r, deaf)
	s.Timeout = 700 * time.Millisecond
	p := start(t, r, s)
	ids := pids(t, s, 2)
	res := wait(t, p)
	if res.Cause != TimedOut || res.Code() != 124 || res.Signal != int(syscall.SIGKILL) {
		t.Errorf("%v, code %d, signal %d (%s)", res.Cause, res.Code(), res.Signal, res.Error)
	}
	if least := s.Timeout + s.Grace; res.Wall < least || res.Wall > least+5*time.Second {
		t.Errorf("ended after %v, not soon after %v", res.Wall, least)
	}
	for _, id := range ids {
		if !gone(id) {
			t.Errorf("process %d of the group still runs", id)
		}
	}
}

// Who fills the disk is not asked to save anything.
func TestFull(t *testing.T) {
	r := newRunner(t)
	s := spec(t, r, deaf)
	s.Grace = time.Minute
	p := start(t, r, s)
	ids := pids(t, s, 2)
	p.Full("filled the disk")
	if res := wait(t, p); res.Cause != DiskExceeded || res.Code() != 128+int(syscall.SIGXFSZ) || res.Error != "filled the disk" {
		t.Errorf("%v, code %d, %q", res.Cause, res.Code(), res.Error)
	}
	for _, id := range ids {
		if !gone(id) {
			t.Errorf("process %d of the group still runs", id)
		}
	}
}

func TestTermComesFirst(t *testing.T) {
	r := newRunner(t)
	s := spec(t, r, `trap 'echo saved; exit 0' TERM; echo ready; while :; do sleep 0.02; done`)
	s.Grace = 15 * time.Second
	p := start(t, r, s)
	eventually(t, "ready", func() bool { return output(t, s, Stdout) != "" })
	p.Cancel()
	p.Cancel()
	if res := wait(t, p); res.Cause != Cancelled || res.Code() != 143 || res.Exit != 0 || output(t, s, Stdout) != "ready\nsaved\n" {
		t.Errorf("%v, code %d, exit %d, stdout %q", res.Cause, res.Code(), res.Exit, output(t, s, Stdout))
	}
	p.Cancel() // after the end: nothing
}

func TestStoppedTaskCanBeCancelled(t *testing.T) {
	r := newRunner(t)
	s := spec(t, r, `trap 'exit 9' TERM; echo $$; kill -STOP $$; while :; do sleep 0.02; done`)
	s.Grace = 15 * time.Second
	p := start(t, r, s)
	pids(t, s, 1)
	p.Cancel()
	if res := wait(t, p); res.Exit != 9 {
		t.Errorf("exit %d, signal %d: SIGTERM did not arrive", res.Exit, res.Signal)
	}
}

func TestBackgroundChildrenEndWithTheMainProcess(t *testing.T) {
	r := newRunner(t)
	for name, script := range map[string]string{
		"obedient": `sleep 1000 & echo $!; exit 5`,
		"deaf":     `(trap "" TERM; echo x >deaf; while :; do sleep 0.05; done) & echo $!; while [ ! -e deaf ]; do sleep 0.01; done; exit 5`,
	} {
		t.Run(name, func(t *testing.T) {
			s := spec(t, r, script)
			res, out := run(t, r, s)
			if res.Code() != 5 || res.Cause != Exited {
				t.Errorf("%v, code %d: the leftover changed the result", res.Cause, res.Code())
			}
			if id, _ := strconv.Atoi(strings.TrimSpace(out)); id == 0 || !gone(id) {
				t.Errorf("process %q still runs", out)
			}
		})
	}
}

func TestProcessThatLeftItsGroupIsSwept(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("needs setsid")
	}
	r := newRunner(t)
	s := spec(t, r, `setsid sh -c 'echo $$; exec sleep 1000' & sleep 1000`)
	s.Deny = ""
	p := start(t, r, s)
	id := pids(t, s, 1)[0]
	p.Cancel()
	wait(t, p) // although the escaped one holds the pipe
	eventually(t, "the escaped process ends", func() bool { return gone(id) })
}

func TestSweepSparesAFolderThatIsUsedAgain(t *testing.T) {
	r := newRunner(t)
	s := spec(t, r, `true`)
	run(t, r, s)
	s.Argv[2] = `while [ ! -e go ]; do sleep 0.01; done`
	p := start(t, r, s)
	r.host.watch.sweep()
	if err := os.WriteFile(filepath.Join(Work(s.Dir), "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if res := wait(t, p); res.Code() != 0 {
		t.Errorf("code %d: %s", res.Code(), res.Error)
	}
}

func TestCloseEndsAllTasks(t *testing.T) {
	r := newRunner(t)
	var ps []*Process
	for range 5 {
		ps = append(ps, start(t, r, spec(t, r, `sleep 1000`)))
	}
	r.Close()
	for _, p := range ps {
		if res := wait(t, p); res.Cause != Cancelled || !gone(p.Pid()) {
			t.Errorf("%v, gone: %v", res.Cause, gone(p.Pid()))
		}
	}
	if _, err := r.Start(spec(t, r, `true`)); err != ErrClosed {
		t.Errorf("start after close: %v", err)
	}
}

// node is a parent that starts a task and then does nothing until it is killed.
func init() {
	roles["node"] = func() {
		r, err := New(Options{})
		if err != nil {
			panic(err)
		}
		dir := os.Getenv("PROCESS_TEST_DIR")
		if err := r.Prepare(dir); err != nil {
			panic(err)
		}
		_, err = r.Start(Spec{Argv: []string{"/bin/sh", "-c", `(trap "" TERM HUP; sleep 1001) & echo $!; echo $$; sleep 1002`},
			Dir: dir, Deny: filepath.Dir(dir)})
		if err != nil {
			panic(err)
		}
		fmt.Println("started")
		select {}
	}
}

func TestKilledNodeEndsItsTasksAndReapTheRest(t *testing.T) {
	attempts := t.TempDir()
	s := Spec{Dir: filepath.Join(attempts, "attempt")}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	node := exec.Command(self)
	node.Env = append(os.Environ(), "PROCESS_TEST_ROLE=node", "PROCESS_TEST_DIR="+s.Dir)
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
	ids := pids(t, s, 2)
	child, task := ids[0], ids[1]
	bystander := exec.Command("sleep", "1003") // of another attempt, elsewhere
	bystander.Env = append(os.Environ(), Marker+"="+attempts+"-other/attempt")
	bystander.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	defer bystander.Wait()
	defer bystander.Process.Kill()

	node.Process.Kill()
	node.Wait()
	eventually(t, "the task ends with its node", func() bool { return gone(task) })
	if gone(child) {
		t.Fatal("the child ended too: nothing to reap")
	}
	if n, err := Reap(attempts); n < 1 || err != nil {
		t.Errorf("reaped %d, %v", n, err)
	}
	eventually(t, "the leftover child ends", func() bool { return gone(child) })
	if unix.Kill(bystander.Process.Pid, 0) != nil || gone(bystander.Process.Pid) {
		t.Error("a process of somebody else was reaped")
	}
	if n, err := Reap(attempts); n != 0 || err != nil {
		t.Errorf("reaped %d again, %v", n, err)
	}
	if n, err := Reap(filepath.Join(attempts, "missing")); n != 0 || err != nil {
		t.Errorf("reaped %d in a folder that is not there, %v", n, err)
	}
}
