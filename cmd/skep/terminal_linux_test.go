package main

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"skep/exec/terminal"
)

// seat is a terminal with a skep at it.
type seat struct {
	t      *testing.T
	cmd    *exec.Cmd
	ours   *os.File
	theirs *os.File
	before unix.Termios
	shown  spool
	ended  chan error
}

// sit starts skep at a terminal of 30 rows and 100 columns.
func (m *member) sit(t *testing.T, args ...string) *seat {
	t.Helper()
	s := &seat{t: t, ended: make(chan error, 1)}
	var err error
	if s.ours, s.theirs, err = terminal.Open(0, terminal.Size{Rows: 30, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.ours.Close(); s.theirs.Close() })
	s.before = s.termios()
	s.cmd = exec.Command(m.skep, append([]string{"--data-dir", m.dir}, args...)...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = s.theirs, s.theirs, s.theirs
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { s.ended <- s.cmd.Wait() }()
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := s.ours.Read(b)
			s.shown.Write(b[:n])
			if err != nil {
				return
			}
		}
	}()
	return s
}

// termios are the modes of the terminal now.
func (s *seat) termios() unix.Termios {
	s.t.Helper()
	x, err := unix.IoctlGetTermios(int(s.theirs.Fd()), unix.TCGETS)
	if err != nil {
		s.t.Fatal(err)
	}
	return *x
}

// until waits until the terminal shows a text.
func (s *seat) until(text string) {
	s.t.Helper()
	defer func() {
		if s.t.Failed() {
			s.t.Logf("the terminal shows %q: want %q", s.shown.String(), text)
		}
	}()
	until(s.t, "the terminal shows "+text, func() bool { return strings.Contains(s.shown.String(), text) })
}

func (s *seat) types(text string) {
	s.t.Helper()
	if _, err := s.ours.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// end waits for the end of skep, returns its status, and checks that the terminal is as it was before.
func (s *seat) end() syscall.WaitStatus {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(time.Minute):
		s.cmd.Process.Kill()
		s.t.Fatalf("skep does not end; the terminal shows %q", s.shown.String())
	}
	if now := s.termios(); now != s.before {
		s.t.Errorf("the terminal has the modes %+v: want those of before, %+v", now, s.before)
	}
	return s.cmd.ProcessState.Sys().(syscall.WaitStatus)
}

// onScreen is a script that tells of its terminal, and of what becomes of that.
const onScreen = `trap 'stty size' WINCH; trap 'echo interrupted; exit 9' INT; tty; stty size; read x; echo "got $x"
	while :; do sleep 0.01; done`

// use plays a person at a terminal on which onScreen runs, and returns skep's exit code.
func (s *seat) use() int {
	s.t.Helper()
	s.until("/dev/pts/")
	s.until("30 100\r\n")
	s.types("words\r")
	s.until("got words\r\n")
	if err := terminal.Set(s.ours, terminal.Size{Rows: 40, Cols: 90}); err != nil {
		s.t.Fatal(err)
	}
	s.until("40 90\r\n")
	s.types("\x03") // which skep itself must not take for a signal
	s.until("interrupted\r\n")
	return s.end().ExitStatus()
}

func TestExecAtATerminal(t *testing.T) {
	skep := buildSkep(t)
	ms := []*member{startMember(t, skep, "")}
	ms = append(ms, startMember(t, skep, ms[0].join, "--label", "side=far"))
	awaitMembers(t, ms)
	ms[0].run(t, "", "run", "--detach", "--label", "side=far", "--", "sleep", "1000")
	until(t, "the task runs", func() bool {
		return exec.Command(skep, "--data-dir", ms[0].dir, "exec", "last", "--", "true").Run() == nil
	})
	if code := ms[0].sit(t, "exec", "-it", "last", "--", "sh", "-c", onScreen).use(); code != 9 {
		t.Errorf("exit code %d", code)
	}

	// However it ends, the terminal is given back.
	for _, how := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		s := ms[0].sit(t, "exec", "-t", "last", "--", "sh", "-c", "echo begun; sleep 1000")
		s.until("begun")
		if s.termios() == s.before {
			t.Error("the terminal was not taken")
		}
		s.cmd.Process.Signal(how)
		if status := s.end(); how != syscall.SIGQUIT && (!status.Signaled() || status.Signal() != how) {
			t.Errorf("%v: status %v", how, status)
		}
	}
	s := ms[0].sit(t, "exec", "-t", "last", "--", "sh", "-c", "echo begun; sleep 1000")
	s.until("begun")
	ms[1].kill()
	if status := s.end(); status.ExitStatus() != 125 {
		t.Errorf("the node died: status %v", status)
	}
	s.until("the connection to the task was lost")
}

func TestRunAtATerminal(t *testing.T) {
	skep := buildSkep(t)
	ms := []*member{startMember(t, skep, "")}
	ms = append(ms, startMember(t, skep, ms[0].join, "--label", "side=far"))
	awaitMembers(t, ms)
	for _, node := range [][]string{nil, {"--label", "side=far"}} {
		args := append(append([]string{"run", "-t"}, node...), "--", "sh", "-c", onScreen)
		if code := ms[0].sit(t, args...).use(); code != 9 {
			t.Errorf("on %v: exit code %d", node, code)
		}
	}
	if job := ms[0].run(t, "", "job", "describe", "last"); !strings.Contains(job, "its submitter's terminal") {
		t.Errorf("%s\nwant the terminal named", job)
	}

	// Until the task runs, the keys are skep's.
	s := ms[0].sit(t, "run", "-t", "--wait", "--label", "side=none", "--", "true")
	until(t, "the job waits", func() bool { return strings.Contains(ms[0].run(t, "", "job", "list"), "pending") })
	s.types("\x03")
	s.until("cancelling the job")
	s.end()

	// Whoever sat there is gone: the task is stopped, and says why.
	far := []string{"run", "-t", "--label", "side=far", "--", "sh", "-c", "echo begun; sleep 1000"}
	s = ms[0].sit(t, far...)
	s.until("begun")
	s.cmd.Process.Signal(syscall.SIGHUP)
	s.end()
	until(t, "its task is stopped", func() bool {
		return strings.Contains(ms[0].run(t, "", "job", "describe", "last"), "its terminal was lost, so it was stopped")
	})

	// Its node is gone: it is not run again.
	s = ms[0].sit(t, far...)
	s.until("begun")
	ms[1].kill()
	if status := s.end(); status.ExitStatus() != 125 {
		t.Errorf("the node died: status %v", status)
	}
	s.until("it had its submitter's terminal, whose keys cannot be repeated")
}
