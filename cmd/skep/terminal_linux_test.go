package main

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"skep/internal/screen"
)

// sit starts skep at a terminal of 30 rows and 100 columns.
func (m *member) sit(t *testing.T, args ...string) *screen.Terminal {
	t.Helper()
	return m.startAt(screen.Open(t, screen.Options{Rows: 30, Columns: 100, Whole: true}), args...)
}

// onScreen is a script that tells of its terminal, and of what becomes of that.
const onScreen = `trap 'stty size' WINCH; trap 'echo interrupted; exit 9' INT; tty; stty size; read x; echo "got $x"
	while :; do sleep 0.01; done`

// use plays a person at a terminal on which onScreen runs, and returns skep's exit code.
func use(x *screen.Terminal) int {
	x.Prints("/dev/pts/")
	x.Prints("30 100\r\n")
	x.Type("words\r")
	x.Prints("got words\r\n")
	x.Resize(90, 40)
	x.Prints("40 90\r\n")
	x.Type("\x03") // which skep itself must not take for a signal
	x.Prints("interrupted\r\n")
	return exitCode(x.End())
}

func TestExecAtATerminal(t *testing.T) {
	t.Parallel()
	skep := buildSkep(t)
	ms := []*member{startMember(t, skep, "")}
	ms = append(ms, startMember(t, skep, ms[0].join, "--label", "side=far"))
	awaitMembers(t, ms)
	ms[0].run(t, "", "run", "--detach", "--label", "side=far", "--", "sleep", "1000")
	until(t, "the task runs", func() bool {
		return exec.Command(skep, "--data-dir", ms[0].dir, "exec", "last", "--", "true").Run() == nil
	})
	if code := use(ms[0].sit(t, "exec", "-it", "last", "--", "sh", "-c", onScreen)); code != 9 {
		t.Errorf("exit code %d", code)
	}

	// However it ends, the terminal is given back.
	for _, how := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		s := ms[0].sit(t, "exec", "-t", "last", "--", "sh", "-c", "echo begun; sleep 1000")
		s.Prints("begun")
		if !s.Taken() {
			t.Error("the terminal was not taken")
		}
		s.Signal(how)
		if status := s.End(); how != syscall.SIGQUIT && (!status.Signaled() || status.Signal() != how) {
			t.Errorf("%v: status %v", how, status)
		}
	}

	// A signal that it was started to ignore, as nohup does, ends nothing.
	s := screen.Open(t, screen.Options{Rows: 30, Columns: 100, Whole: true})
	s.Start(exec.Command("sh", "-c", `trap "" HUP; exec "$@"`, "sh", skep, "--data-dir", ms[0].dir, "exec", "-t", "last",
		"--", "sh", "-c", "echo begun; read x; echo got $x; sleep 1000"))
	s.Prints("begun")
	s.Signal(syscall.SIGHUP)
	s.Type("words\r")
	s.Prints("got words")
	if !s.Taken() {
		t.Error("an ignored hang-up gave the terminal back")
	}
	s.Signal(syscall.SIGTERM)
	if status := s.End(); !status.Signaled() || status.Signal() != syscall.SIGTERM {
		t.Errorf("after an ignored hang-up: status %v", status)
	}

	s = ms[0].sit(t, "exec", "-t", "last", "--", "sh", "-c", "echo begun; sleep 1000")
	s.Prints("begun")
	ms[1].kill()
	if status := s.End(); status.ExitStatus() != 125 {
		t.Errorf("the node died: status %v", status)
	}
	s.Prints("the connection to the task was lost")
}

func TestRunAtATerminal(t *testing.T) {
	t.Parallel()
	skep := buildSkep(t)
	ms := []*member{startMember(t, skep, "")}
	ms = append(ms, startMember(t, skep, ms[0].join, "--label", "side=far"))
	awaitMembers(t, ms)
	for _, node := range [][]string{nil, {"--label", "side=far"}} {
		args := append(append([]string{"run", "-t"}, node...), "--", "sh", "-c", onScreen)
		if code := use(ms[0].sit(t, args...)); code != 9 {
			t.Errorf("on %v: exit code %d", node, code)
		}
	}
	if job := ms[0].run(t, "", "job", "describe", "last"); !strings.Contains(job, "its submitter's terminal") {
		t.Errorf("%s\nwant the terminal named", job)
	}

	// Until the task runs, the keys are skep's.
	s := ms[0].sit(t, "run", "-t", "--wait", "--label", "side=none", "--", "true")
	until(t, "the job waits", func() bool { return strings.Contains(ms[0].run(t, "", "job", "list"), "pending") })
	s.Type("\x03")
	s.Prints("cancelling the job")
	s.End()

	// Whoever sat there is gone: the task is stopped, and says why.
	far := []string{"run", "-t", "--label", "side=far", "--", "sh", "-c", "echo begun; sleep 1000"}
	s = ms[0].sit(t, far...)
	s.Prints("begun")
	s.Signal(syscall.SIGHUP)
	s.End()
	until(t, "its task is stopped", func() bool {
		return strings.Contains(ms[0].run(t, "", "job", "describe", "last"), "its terminal was lost, so it was stopped")
	})

	// Its node is gone: it is not run again.
	s = ms[0].sit(t, far...)
	s.Prints("begun")
	ms[1].kill()
	if status := s.End(); status.ExitStatus() != 125 {
		t.Errorf("the node died: status %v", status)
	}
	s.Prints("it had its submitter's terminal, whose keys cannot be repeated")
}
