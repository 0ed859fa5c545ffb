package main

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"skep/grid"
)

// stream starts a skep run at the far node whose standard input does not end, and waits until its task has read of it.
func (m *member) stream(t *testing.T) *call {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	c := &call{cmd: exec.Command(m.skep, "--data-dir", m.dir, "run", "--label", "side=far", "--", "sh", "-c",
		"read x; echo $x; cat; echo whole")}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = r, &c.out, &c.err
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteString("begun\n"); err != nil {
		t.Fatal(err)
	}
	until(t, "the task has read a line", func() bool { return strings.Contains(c.out.String(), "begun") })
	return c
}

// A task that has read of a streamed input does not run again when its node dies, and is stopped when nobody sends the
// rest of it.
func TestStdinIsLostWithEitherEnd(t *testing.T) {
	t.Parallel()
	skep := buildSkep(t)
	ms := []*member{startMember(t, skep, "")}
	ms = append(ms, startMember(t, skep, ms[0].join, "--label", "side=far"))
	awaitMembers(t, ms)

	c := ms[0].stream(t)
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
	var job string
	until(t, "its task is stopped", func() bool {
		job = ms[0].run(t, "", "job", "describe", "last")
		return strings.Contains(job, "1 ended")
	})
	if !strings.Contains(job, "its standard input broke off before its end") {
		t.Errorf("%s\nwant the task stopped, with the reason", job)
	}
	if out := ms[0].run(t, "", "job", "logs", "last"); strings.Contains(out, "whole") {
		t.Errorf("%q: the task took the cut input for a whole one", out)
	}

	c = ms[0].stream(t)
	ms[1].kill()
	if code := c.end(t); code != grid.ExitSkep ||
		!strings.Contains(c.err.String(), "its standard input was streamed, which cannot be repeated, so it was to run at "+
			"most once") {
		t.Errorf("exit code %d, %s: want %d, with the reason", code, c.err.String(), grid.ExitSkep)
	}
}

// Nothing is read of an input before its task runs, so a restart of the node meanwhile loses none of it.
func TestStdinOutlivesARestartOfItsNode(t *testing.T) {
	t.Parallel()
	m := startMember(t, buildSkep(t), "", "--cpus", "1")
	busy := m.begin(t, "run", "--retries", "0", "--", "sh", "-c", "echo begun; sleep 1000") // it ends with its node
	until(t, "the node is busy", func() bool { return strings.Contains(busy.out.String(), "begun") })
	c := &call{cmd: exec.Command(m.skep, "--data-dir", m.dir, "run", "--", "cat")}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = strings.NewReader("all of it\n"), &c.out, &c.err
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	listed := 0 // its submitter is told of it in the same moment: one that was not would leave
	until(t, "the job waits", func() bool {
		if strings.Count(m.run(t, "", "job", "list"), "running") == 2 {
			listed++
		}
		return listed == 4
	})
	m.kill()
	m.start(t)
	if code := c.end(t); code != 0 || c.out.String() != "all of it\n" {
		t.Errorf("exit code %d, %q, %s: want all of the input\n%s", code, c.out.String(), c.err.String(),
			m.run(t, "", "job", "describe", "last"))
	}
	busy.end(t)
}
