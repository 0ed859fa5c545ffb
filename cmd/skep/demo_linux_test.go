package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// demonstrate starts a demonstration with its folders in dir.
func demonstrate(t *testing.T, dir string, tasks string) (*exec.Cmd, *bufio.Scanner, *bytes.Buffer) {
	t.Helper()
	passable(t, dir)
	// its tasks run the binary itself, which must not be the test binary
	cmd := exec.Command(buildSkep(t), "demo", "--tasks", tasks)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out), &errs
}

// clean checks that no folder and no node of a demonstration is left.
func clean(t *testing.T, dir string) {
	t.Helper()
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left %v behind", left)
	}
	until(t, "no node is left", func() bool {
		out, _ := exec.Command("ps", "-eo", "args").Output()
		return !strings.Contains(string(out), dir+"/skep-demo-")
	})
}

func TestDemoShowsAndCleansUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	began := time.Now()
	cmd, out, errs := demonstrate(t, dir, "12")
	var text strings.Builder
	for out.Scan() {
		text.WriteString(out.Text() + "\n")
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, text.String(), errs)
	}
	if first, _, _ := strings.Cut(text.String(), "\n"); !strings.HasPrefix(first,
		"Isolation of tasks: "+isolation().String()) {
		t.Errorf("its first line is %q: want the level, %v", first, isolation())
	}
	for _, want := range []string{"TASK  CLASS", "of 12 tasks moved", "messages for each task",
		"BY THE GRID  WHERE SUBMITTED", "every result was checked"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("it does not print %q:\n%s", want, text.String())
		}
	}
	t.Logf("it took %v", time.Since(began)) // demoLimit ensures that it ends
	clean(t, dir)
}

func TestDemoCleansUpWhenInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd, out, errs := demonstrate(t, dir, "60")
	for out.Scan() {
		if strings.HasPrefix(out.Text(), "First each runs") {
			break
		}
	}
	_ = cmd.Process.Signal(os.Interrupt)
	for out.Scan() {
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("it ended with %d, %s: want 130", code, errs)
	}
	clean(t, dir)
}
