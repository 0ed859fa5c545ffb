package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"skep/node/api/v1"
)

// All nodes of a grid are restarted one after the other by SIGTERM while at-most-once tasks run: none is lost, and
// none starts twice.
func TestRollingRestartOfProcesses(t *testing.T) {
	t.Parallel()
	dir, expose := sharedFolder(t, "began")
	ms := startGrid(t, "skep", 3, append(expose, "--cpus", "2", "--drain", "30s")...)
	log := filepath.Join(dir, "began")
	job := fmt.Sprintf(`name: rolling
command: [sh, -c, 'echo ${SKEP_INDEX} >> %s; sleep 0.4']
count: 40
retries: 0
`, log)
	id := strings.TrimSpace(ms[0].run(t, job, "job", "submit", "-"))
	for _, m := range ms {
		began := time.Now()
		_ = m.cmd.Process.Signal(syscall.SIGTERM)
		if err := m.cmd.Wait(); err != nil {
			t.Fatalf("stopped: %v\n%s", err, m.log)
		}
		if d := time.Since(began); d > 20*time.Second {
			t.Errorf("a node with tasks of 0.4 s took %v to stop", d)
		}
		m.start(t)
	}
	ms[0].run(t, "", "job", "wait", id, "--timeout", "30s")
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	for l := range strings.Lines(string(b)) {
		times[l]++
	}
	for l, k := range times {
		if k != 1 {
			t.Errorf("task %s began %d times", strings.TrimSpace(l), k)
		}
	}
	if len(times) != 40 {
		t.Errorf("%d of 40 tasks began", len(times))
	}
}

// A node is drained from another one: its queue moves elsewhere, it may be stopped when its running tasks have ended,
// all nodes show that it drains, and it accepts work again after an undrain.
func TestDrainANodeFromAnother(t *testing.T) {
	t.Parallel()
	ms := startGrid(t, "skep", 2, "--cpus", "1")
	list := func(m *member) string { return m.run(t, "", "node", "list", "--output", "json") }
	id := strings.TrimSpace(ms[0].run(t, "command: [sleep, '0.5']\ncount: 8\nretries: 0\n", "job", "submit", "-"))
	var other v1.Node
	if err := json.Unmarshal([]byte(ms[1].run(t, "", "node", "describe", "self", "--output", "json")),
		&other); err != nil {
		t.Fatal(err)
	}
	out := ms[0].run(t, "", "node", "drain", other.ID[:8])
	if !strings.Contains(out, "may be stopped") {
		t.Errorf("drain printed %q", out)
	}
	if !strings.Contains(list(ms[0]), `"draining"`) || !strings.Contains(list(ms[1]), `"draining"`) {
		t.Errorf("not everybody sees that it drains:\n%s\n%s", list(ms[0]), list(ms[1]))
	}
	ms[0].run(t, "", "job", "wait", id, "--timeout", "20s")
	if out := ms[1].run(t, "", "node", "drain", "--self", "--undo"); !strings.Contains(out, "takes work") {
		t.Errorf("undo printed %q", out)
	}
	if strings.Contains(list(ms[1]), `"draining"`) {
		t.Error("it still drains")
	}
}

// A second signal does not wait for running tasks.
func TestSecondSignalStopsAtOnce(t *testing.T) {
	t.Parallel()
	m := startMember(t, "skep", "", "--drain", "1m")
	m.run(t, "command: [sleep, '60']\n", "job", "submit", "-")
	for deadline := time.Now().Add(time.Minute); !strings.Contains(m.run(t, "", "job", "list"), "running"); {
		if time.Now().After(deadline) {
			t.Fatal("the task does not run")
		}
		time.Sleep(20 * time.Millisecond)
	}
	began := time.Now()
	_ = m.cmd.Process.Signal(syscall.SIGTERM)
	time.AfterFunc(700*time.Millisecond, func() { _ = m.cmd.Process.Signal(syscall.SIGTERM) })
	if err := m.cmd.Wait(); err != nil {
		t.Fatalf("stopped: %v\n%s", err, m.log)
	}
	if d := time.Since(began); d < 700*time.Millisecond || d > 40*time.Second {
		t.Errorf("it took %v: want it to wait for the second signal and not longer", d)
	}
}
