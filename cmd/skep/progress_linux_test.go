package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"skep/internal/screen"
)

// onTerminal is a command on a terminal of 80 columns and 24 lines.
type onTerminal struct {
	*screen.Terminal
	cmd *exec.Cmd
}

// onTerminal begins a command on a terminal.
func (m *member) onTerminal(t *testing.T, args ...string) *onTerminal {
	t.Helper()
	x, err := screen.Open(80)
	if err != nil {
		t.Skip("no pseudo-terminal: ", err)
	}
	t.Cleanup(x.Close)
	cmd := exec.Command(m.skep, append([]string{"--data-dir", m.dir}, args...)...)
	cmd.Env = append(os.Environ(), "TERM=xterm")
	cmd.Stdout, cmd.Stderr = x.File, x.File
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &onTerminal{x, cmd}
}

// shows waits until the last line of the screen has all of some words, and returns the screen.
func (x *onTerminal) shows(t *testing.T, words ...string) string {
	t.Helper()
	text, err := x.Await(func(text string) bool {
		last := text[strings.LastIndexByte(text, '\n')+1:]
		for _, w := range words {
			if !strings.Contains(last, w) {
				return false
			}
		}
		return true
	})
	if err != nil {
		t.Fatalf("%q: %v", words, err)
	}
	return text
}

// ends waits for the command's end and compares its code and what is left on the screen.
func (x *onTerminal) ends(t *testing.T, code int, left string) {
	t.Helper()
	_ = x.cmd.Wait()
	if got := x.cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("it ended with %d: want %d", got, code)
	}
	if _, err := x.Await(func(text string) bool { return text == left }); err != nil {
		t.Errorf("at the end: %v\nwant\n%s", err, left)
	}
}

// gatedScript says its progress in three steps, and goes on when the file of each is there.
const gatedScript = `for i in 1 2 3; do
	echo "progress $i 4 step $i" >"$SKEP_PROGRESS"
	until [ -e '%[1]s'/$i ]; do sleep 0.05; done
done
echo printed; exit 3`

func touch(t *testing.T, name string) {
	t.Helper()
	if err := os.WriteFile(name, nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

// The bar of a task follows what the task says, goes when it prints, and leaves nothing on the screen.
func TestProgressOfATaskOnATerminal(t *testing.T) {
	t.Parallel()
	dir, expose := sharedFolder(t)
	m := startMember(t, "skep", "", expose...)
	x := m.onTerminal(t, "run", "--", "sh", "-c", fmt.Sprintf(gatedScript, dir))
	x.shows(t, "job ", "[", "] 1 of 4", "step 1")
	touch(t, dir+"/1")
	x.shows(t, "==", "] 2 of 4", "step 2")
	w := m.onTerminal(t, "job", "wait", "last")
	w.shows(t, "] 2 of 4", "step 2")
	touch(t, dir+"/2")
	x.shows(t, "] 3 of 4", "step 3")
	touch(t, dir+"/3")
	x.ends(t, 3, "printed")
	w.ends(t, 3, "")
}

// The bar of several tasks says how many run, wait, and have failed.
func TestProgressOfManyTasksOnATerminal(t *testing.T) {
	t.Parallel()
	dir, expose := sharedFolder(t)
	m := startMember(t, "skep", "", append(expose, "--cpus", "2")...)
	x := m.onTerminal(t, "run", "--count", "6", "--", "sh", "-c",
		fmt.Sprintf("until [ -e '%s'/$SKEP_INDEX ]; do sleep 0.05; done; [ $SKEP_INDEX != 1 ]", dir))
	x.shows(t, "] 0 of 6, 2 running, 4 waiting")
	touch(t, dir+"/0")
	touch(t, dir+"/1")
	x.shows(t, "] 2 of 6, 2 running, 2 waiting, 1 failed")
	if err := x.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	x.ends(t, 130, "skep: cancelling the job; interrupt again to leave at once\n"+
		"skep: task 2: cancelled\nskep: and 3 more tasks were cancelled")
}

// An upload shows its bytes.
func TestProgressOfAnUploadOnATerminal(t *testing.T) {
	t.Parallel()
	m := startMember(t, "skep", "")
	big := t.TempDir() + "/big"
	if err := os.WriteFile(big, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, 2<<30); err != nil {
		t.Fatal(err)
	}
	x := m.onTerminal(t, "run", "--input", big+"=big", "--", "true")
	x.shows(t, "upload [", "MiB of 2.0 GiB")
	if err := x.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	x.ends(t, 130, "skep: interrupted before the job was submitted")
}

// The bar of files that are fetched shows their bytes, and goes when a signal ends the program.
func TestProgressOfAGetOnATerminal(t *testing.T) {
	t.Parallel()
	m := startMember(t, "skep", "")
	run := exec.Command(m.skep, "--data-dir", m.dir, "run", "--output", "big", "--", "truncate", "-s", "1G", "big")
	run.Dir = t.TempDir()
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	x := m.onTerminal(t, "job", "get", "last", "-o", t.TempDir())
	x.shows(t, "[", "MiB of 1.0 GiB")
	if err := x.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	x.ends(t, -1, "")
	if s, ok := x.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGINT {
		t.Errorf("it ended with %v: want as SIGINT does", x.cmd.ProcessState)
	}
}
