package process

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"skep/exec/suspend"
)

// still reports whether a task writes nothing more to its stdout.
func still(t *testing.T, s Spec) bool {
	before := output(t, s, Stdout)
	time.Sleep(300 * time.Millisecond)
	return output(t, s, Stdout) == before
}

// A task that is suspended and resumed three times prints, ends and has used processor time as if it had not been,
// with its children and those that left its session; its time limit stands still.
func TestSuspendedThreeTimes(t *testing.T) { both(t, testSuspendedThreeTimes) }

func testSuspendedThreeTimes(t *testing.T, r *Runner) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("needs setsid")
	}
	s := spec(t, r, `tick() { while [ ! -e end ]; do echo $1; sleep 0.02; done; }
tick child & setsid sh -c 'while [ ! -e end ]; do echo left; sleep 0.02; done; : >left.done' &
while [ ! -e end ]; do echo main; sleep 0.02; done
wait; exit 7`)
	s.Timeout = 3 * time.Second
	p := start(t, r, s)
	for range 3 {
		before := output(t, s, Stdout)
		eventually(t, "all of it runs", func() bool {
			now := strings.TrimPrefix(output(t, s, Stdout), before)
			return strings.Count(now, "main") > 2 && strings.Count(now, "child") > 2 && strings.Count(now, "left") > 2
		})
		p.Suspend()
		eventually(t, "nothing of it runs", func() bool { return still(t, s) })
		time.Sleep(time.Second) // of wall time: three of these are over its limit
		if !still(t, s) {
			t.Fatal("a part of it runs")
		}
		p.Resume()
	}
	put(t, r, s, "end", "", 0o644)
	res := wait(t, p)
	if res.Cause != Exited || res.Code() != 7 || res.Wall < 3*time.Second {
		t.Errorf("%v, code %d after %v: %s", res.Cause, res.Code(), res.Wall, res.Error)
	}
	if _, err := os.Stat(filepath.Join(Work(s.Dir), "left.done")); err != nil {
		eventually(t, "what had left its session ends too", func() bool {
			_, err := os.Stat(filepath.Join(Work(s.Dir), "left.done"))
			return err == nil
		})
	}
}

// What a task has stopped itself is still stopped after a suspension.
func TestItsOwnStopOutlastsASuspension(t *testing.T) {
	both(t, func(t *testing.T, r *Runner) {
		s := spec(t, r, `sh -c 'kill -STOP $$; echo woken' & child=$!
while [ "$(cut -d" " -f3 /proc/$child/stat)" != T ]; do sleep 0.01; done; echo ready
while [ ! -e go ]; do sleep 0.01; done; cut -d" " -f3 /proc/$child/stat; kill -CONT $child; wait $child; exit 3`)
		p := start(t, r, s)
		says(t, s, 1)
		p.Suspend()
		eventually(t, "it is suspended", func() bool { return still(t, s) })
		time.Sleep(100 * time.Millisecond)
		p.Resume()
		put(t, r, s, "go", "", 0o644)
		if res := wait(t, p); res.Code() != 3 || output(t, s, Stdout) != "ready\nT\nwoken\n" {
			t.Errorf("code %d, %q", res.Code(), output(t, s, Stdout))
		}
	})
}

// A task that has itself continued is stopped again.
func TestNobodyEscapesASuspension(t *testing.T) {
	both(t, func(t *testing.T, r *Runner) {
		s := spec(t, r, `main=$$; (trap '' TERM; while sleep 0.01; do kill -CONT $main; done) &
while :; do echo x; sleep 0.01; done`)
		p := start(t, r, s)
		says(t, s, 2)
		p.Suspend()
		eventually(t, "it is suspended", func() bool { return still(t, s) })
		before := output(t, s, Stdout)
		time.Sleep(2 * lookAgain)
		if n := len(output(t, s, Stdout)) - len(before); n > 0 {
			t.Errorf("it has gone on for %d lines", n/2)
		}
		p.Cancel()
		wait(t, p)
	})
}

// restless is a task that nobody can stop.
type restless struct{}

func (restless) Processes() ([]suspend.Process, error)    { return nil, errors.New("nobody knows") }
func (restless) Signal(pid int, sig syscall.Signal) error { return nil }

// A task that cannot be stopped goes on within its time limit, and that is told.
func TestWhatCannotBeSuspendedKeepsItsLimit(t *testing.T) {
	r := newRunner(t)
	s := spec(t, r, `echo x; while :; do sleep 0.02; done`)
	s.Timeout = time.Second
	told := make(chan error, 100)
	s.NotSuspended = func(err error) { told <- err }
	p := start(t, r, s)
	says(t, s, 1)
	p.members = restless{} // its keeper looks at it only when it is asked to suspend
	p.Suspend()
	if err := <-told; err == nil || !strings.Contains(err.Error(), "nobody knows") {
		t.Errorf("told %v", err)
	}
	if res := wait(t, p); res.Cause != TimedOut {
		t.Errorf("%v: want that its time limit ends it", res.Cause)
	}
}

// A suspended task can be cancelled, and may still save something; its time limit holds once it goes on.
func TestEndsOfSuspendedTasks(t *testing.T) { both(t, testEndsOfSuspendedTasks) }

func testEndsOfSuspendedTasks(t *testing.T, r *Runner) {
	s := spec(t, r, `trap 'echo saved; exit 0' TERM; echo ready; while :; do sleep 0.02; done`)
	s.Grace = 15 * time.Second
	p := start(t, r, s)
	says(t, s, 1)
	p.Suspend()
	time.Sleep(100 * time.Millisecond)
	p.Cancel()
	if res := wait(t, p); res.Cause != Cancelled || output(t, s, Stdout) != "ready\nsaved\n" {
		t.Errorf("%v, %q", res.Cause, output(t, s, Stdout))
	}
	s = spec(t, r, `echo ready; while :; do sleep 0.02; done`)
	s.Timeout = time.Second
	p = start(t, r, s)
	says(t, s, 1)
	p.Suspend()
	time.Sleep(1500 * time.Millisecond)
	select {
	case <-p.done:
		t.Fatal("its limit did not stand still")
	default:
	}
	p.Resume()
	if res := wait(t, p); res.Cause != TimedOut {
		t.Errorf("%v: want that its time limit ends it", res.Cause)
	}
	p.Suspend() // after the end: nothing
}
