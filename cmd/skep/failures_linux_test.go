package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after 30 s still not: %s", what)
		}
	}
}

// call is a verb that runs beside the test.
type call struct {
	cmd      *exec.Cmd
	out, err spool
}

func (m *member) begin(t *testing.T, args ...string) *call {
	t.Helper()
	c := &call{cmd: exec.Command(m.skep, append([]string{"--data-dir", m.dir}, args...)...)}
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.err
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// end waits for the verb and returns its exit code.
func (c *call) end(t *testing.T) int {
	t.Helper()
	watch := time.AfterFunc(40*time.Second, func() { _ = c.cmd.Process.Kill() })
	defer watch.Stop()
	var exit *exec.ExitError
	if err := c.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.cmd.ProcessState.ExitCode()
}

// jobDescription is the output of job describe.
type jobDescription struct {
	State string
	Exit  int `json:"exit_code"`
	Tasks []struct {
		State, Attempt string
		Name           string `json:"node_name"`
	}
}

func (m *member) describe(t *testing.T, job string) (d jobDescription) {
	t.Helper()
	if err := json.Unmarshal([]byte(m.run(t, "", "job", "describe", job, "--output", "json")), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// threeNodes is an origin and two workers with the label side=b.
func threeNodes(t *testing.T, args ...string) (origin *member, workers map[string]*member) {
	t.Helper()
	origin = startMember(t, "skep", "", append(args, "--name", "origin")...)
	workers = map[string]*member{}
	for _, n := range []string{"beech", "birch"} {
		workers[n] = startMember(t, "skep", origin.join, append(args, "--name", n, "--label", "side=b")...)
	}
	until(t, "three nodes know each other", func() bool {
		return strings.Count(origin.run(t, "", "node", "list", "--output", "json"), `"connected"`) == 2
	})
	return origin, workers
}

// hangsOnce returns a program that hangs in its first run and exits with 7 in the next. It marks its start with a
// folder.
func hangsOnce(dir string) []string {
	return []string{"sh", "-c", "if mkdir '" + dir +
		"/begun'; then echo lost; exec sleep 100; fi 2>/dev/null; echo done; exit 7"}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// A worker's running task runs again elsewhere, and the caller gets its answer: the worker is killed, or told to
// leave.
func TestWorkerDiesOrLeaves(t *testing.T) {
	for name, leave := range map[string]func(*member){
		"killed": (*member).kill,
		"told":   func(m *member) { m.stop() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, expose := sharedFolder(t)
			origin, workers := threeNodes(t, expose...)
			c := origin.begin(t, append([]string{"run", "--label", "side=b", "--"}, hangsOnce(dir)...)...)
			until(t, "the task has begun", func() bool { return exists(dir + "/begun") })
			where := origin.describe(t, "last").Tasks[0].Name
			if workers[where] == nil {
				t.Fatalf("the task runs at %q", where)
			}
			leave(workers[where])
			if code := c.end(t); code != 7 || !strings.HasSuffix(c.out.String(), "done\n") {
				t.Errorf("run ended with %d and printed %q, %q: want 7 and done\n%s", code, &c.out, &c.err, origin.log)
			}
			if d := origin.describe(t, "last"); d.Tasks[0].Name == where || d.Exit != 7 {
				t.Errorf("the record says %+v: want another node than %s and 7", d, where)
			}
		})
	}
}

// The origin of some jobs is killed and restarted: all jobs end, each recorded once, and waiting clients get their
// answers.
func TestOriginRestarts(t *testing.T) {
	t.Parallel()
	dir, expose := sharedFolder(t)
	origin, _ := threeNodes(t, expose...)
	script := "mkdir '" + dir + "/'$SKEP_INDEX; sleep 1.5; echo task $SKEP_INDEX"
	file := fmt.Sprintf("command: [sh, -c, %q]\ncount: 6\nneeds: {cpu: 0.1}\n", script)
	id := strings.TrimSpace(origin.run(t, file, "job", "submit", "-"))
	gate := filepath.Join(dir, "gate")
	c := origin.begin(t, "run", "--label", "side=b", "--cpu", "0.1", "--", "sh", "-c",
		"echo before; touch '"+dir+"/says'; while [ ! -e '"+gate+"' ]; do sleep 0.05; done; echo after; exit 5")
	until(t, "tasks run", func() bool {
		return exists(dir+"/says") && exists(dir+"/0") && strings.Contains(c.out.String(), "before")
	})
	origin.kill()
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	origin.start(t)
	if code := c.end(t); code != 5 || c.out.String() != "before\nafter\n" {
		t.Errorf("run ended with %d and printed %q, %q: want 5, before, after, each once", code, &c.out, &c.err)
	}
	if code := origin.begin(t, "job", "wait", id).end(t); code != 0 {
		t.Errorf("the job ended with %d", code)
	}
	d := origin.describe(t, id)
	if len(d.Tasks) != 6 || d.State != "done" {
		t.Errorf("%d tasks, %s: want 6, done", len(d.Tasks), d.State)
	}
	for i := range d.Tasks {
		if got := origin.run(t, "", "job", "logs", fmt.Sprintf("%s/%d", id, i)); d.Tasks[i].State != "ended" ||
			got != fmt.Sprintf("task %d\n", i) {
			t.Errorf("task %d is %s and printed %q", i, d.Tasks[i].State, got)
		}
	}
}

func TestWaitsUntilANodeFits(t *testing.T) {
	t.Parallel()
	origin := startMember(t, "skep", "", "--name", "origin")
	c := origin.begin(t, "run", "--wait", "--label", "side=b", "--", "sh", "-c", "echo there; exit 4")
	until(t, "explain tells why it waits", func() bool {
		out, _ := exec.Command("skep", "--data-dir", origin.dir, "job", "explain", "last").Output()
		return strings.Contains(string(out), "waits: nobody known fits: this node label does not match (needs side=b")
	})
	startMember(t, "skep", origin.join, "--label", "side=b")
	if code := c.end(t); code != 4 || c.out.String() != "there\n" {
		t.Errorf("run ended with %d and printed %q, %q: want 4 and there", code, &c.out, &c.err)
	}
}

func TestInterruptCancels(t *testing.T) {
	t.Parallel()
	dir, expose := sharedFolder(t)
	m := startMember(t, "skep", "", append(expose, "--name", "origin")...)
	c := m.begin(t, append([]string{"run", "--"}, hangsOnce(dir)...)...)
	until(t, "the task has begun", func() bool { return exists(dir + "/begun") })
	_ = c.cmd.Process.Signal(os.Interrupt)
	if code := c.end(t); code != 130 {
		t.Errorf("run ended with %d, %q: want 130", code, &c.err)
	}
	if d := m.describe(t, "last"); d.State != "cancelled" {
		t.Errorf("the job is %s: want cancelled", d.State)
	}
}
