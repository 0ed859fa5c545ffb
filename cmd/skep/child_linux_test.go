package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skep/internal/processes"
)

var childTasks = flag.Int("child.tasks", 40, "tasks of TestChildGridIsKilled")

// childGrid starts a grid of two nodes, of which the first is reached by the file that it returns.
func childGrid(t *testing.T, skep string, args ...string) (nodes []*member, file string) {
	t.Helper()
	api := processes.Addresses(t, 1)[0]
	a := startMember(t, skep, "", append([]string{"--cpus", "1", "--api", api}, args...)...)
	b := startMember(t, skep, a.join, append([]string{"--cpus", "4"}, args...)...)
	nodes = []*member{a, b}
	awaitMembers(t, nodes)
	file = filepath.Join(t.TempDir(), "grid")
	if err := os.WriteFile(file, []byte(a.run(t, "", "node", "token", "--api")), 0o600); err != nil {
		t.Fatal(err)
	}
	return nodes, file
}

// skep run on a node that stands for a grid is as on any other: output, exit code, time limit, variables, inputs and
// outputs; what it cannot do is refused.
func TestRunInChildGrid(t *testing.T) {
	skep := buildSkep(t)
	nodes, file := childGrid(t, skep)
	m := startMember(t, skep, "", "--engine", "skep", "--grid", file)
	for _, c := range []struct {
		args   []string
		code   int
		stdout string
	}{
		{[]string{"--", "sh", "-c", "echo out; echo err >&2; exit 3"}, 3, "out\n"},
		{[]string{"--", "sh", "-c", "kill -9 $$"}, 137, ""},
		{[]string{"--timeout", "1s", "--", "sleep", "100"}, 124, ""},
		{[]string{"--cpu", "3", "--", "sh", "-c", "echo $SKEP_INDEX $SKEP_COUNT $SKEP_CPUS '${SKEP_INDEX}'"}, 0, "0 1 3 0\n"},
		{[]string{"--", "no-such-program"}, 127, ""},
		{[]string{"--cpu", "5", "--", "true"}, 121, ""}, // no node of the child has five, though both together have
	} {
		cmd := exec.Command(m.skep, append([]string{"--data-dir", m.dir, "run", "--quiet"}, c.args...)...)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, _ := cmd.Output()
		if code := cmd.ProcessState.ExitCode(); string(out) != c.stdout || code != c.code {
			t.Errorf("%v: %q, code %d, %s: want %q, %d\n%s", c.args, out, code, &stderr, c.stdout, c.code, m.log)
		}
	}
	dir := t.TempDir()
	job := filepath.Join(dir, "job.yaml")
	text := "name: files\ncommand: [sh, -c, 'mkdir d; cat put >d/x; cat put; echo $SKEP_INDEX']\ninputs: [put]\n" +
		"outputs: ['d/*']\ncount: 2\n"
	for name, text := range map[string]string{job: text, filepath.Join(dir, "put"): "content\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	id := strings.TrimSpace(m.run(t, "", "job", "submit", job))
	m.run(t, "", "job", "wait", id)
	m.run(t, "", "job", "get", id, "--output-dir", filepath.Join(dir, "got"))
	if got := m.run(t, "", "job", "logs", id+"/1"); got != "content\n1\n" {
		t.Errorf("it printed %q: want its input and its index", got)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "got", "1", "d", "x")); err != nil || string(b) != "content\n" {
		t.Errorf("output %q, %v: want its input", b, err)
	}
	if list := nodes[0].run(t, "", "job", "list", "--output", "json"); strings.Count(list, `"files"`) != 2 {
		t.Errorf("jobs of the child:\n%s\nwant one for each of the two tasks", list)
	}
}

// While the grid that it stands for cannot be reached a node takes no tasks, and its owner is told why the task waits.
// When the grid is back it takes them.
func TestChildGridIsAway(t *testing.T) {
	skep := buildSkep(t)
	nodes, file := childGrid(t, skep, "--members", "1")
	owner := startMember(t, skep, "", "--cpus", "1", "--members", "1")
	m := startMember(t, skep, owner.join, "--engine", "skep", "--grid", file)
	awaitMembers(t, []*member{owner, m})
	says := func(want string, args ...string) {
		t.Helper()
		for began := time.Now(); !strings.Contains(owner.run(t, "", args...), want); time.Sleep(100 * time.Millisecond) {
			if time.Since(began) > time.Minute {
				t.Fatalf("%v: want %q:\n%s%s", args, want, owner.run(t, "", args...), m.log)
			}
		}
	}
	nodes[0].kill()
	says("cannot reach what runs its tasks", "node", "list", "--wide")
	id := strings.TrimSpace(owner.run(t, "needs: {cpu: 2}\nwait: true\ncommand: [echo, there]\n", "job", "submit", "-"))
	says("cannot reach what runs its tasks", "job", "explain", id)
	nodes[0].start(t)
	owner.run(t, "", "job", "wait", id)
	if out := owner.run(t, "", "job", "logs", id); out != "there\n" {
		t.Errorf("it printed %q: want there", out)
	}
}

// The node that stands for a grid is killed, stopped and started again, and the node that it reaches there is, and both
// at once, while tasks run and wait: all end, none is lost and none runs twice.
func TestChildGridIsKilled(t *testing.T) {
	skep := buildSkep(t)
	dir, expose := sharedFolder(t, "ran")
	nodes, file := childGrid(t, skep, append([]string{"--members", "1"}, expose...)...)
	door := nodes[0] // which has too few cores for the tasks: what runs on a node that is killed is lost
	owner := startMember(t, skep, "", append([]string{"--cpus", "2", "--members", "1"}, expose...)...)
	m := startMember(t, skep, owner.join, "--engine", "skep", "--grid", file)
	awaitMembers(t, []*member{owner, m})
	ran := filepath.Join(dir, "ran")
	id := strings.TrimSpace(owner.run(t, fmt.Sprintf("needs: {cpu: 2, memory: 32MiB}\ncount: %d\nretries: 3\n"+
		"command: [sh, -c, 'echo $SKEP_NODE_NAME $SKEP_NODE $SKEP_INDEX >>%s; sleep 1.$((SKEP_INDEX %% 10)); echo done']\n",
		*childTasks, ran), "job", "submit", "-"))
	ended := func() int {
		var j struct {
			Ended int `json:"ended"`
		}
		if err := json.Unmarshal([]byte(owner.run(t, "", "job", "describe", id, "--output", "json")), &j); err != nil {
			t.Fatal(err)
		}
		return j.Ended
	}
	for kills, at := 1, *childTasks/5; kills <= 4; kills, at = kills+1, at+*childTasks/5 {
		for began := time.Now(); ended() < at; time.Sleep(50 * time.Millisecond) {
			if time.Since(began) > 2*time.Minute {
				t.Fatalf("%d tasks have ended: want %d\n%s", ended(), at, m.log)
			}
		}
		switch kills {
		case 1:
			m.kill()
		case 2: // in order: what runs goes on
			m.stop()
		case 3:
			door.kill()
		case 4:
			door.kill()
			m.kill()
		}
		time.Sleep(time.Second)
		if kills >= 3 {
			door.start(t)
		}
		if kills != 3 {
			m.start(t)
		}
	}
	owner.run(t, "", "job", "wait", id)
	text, err := os.ReadFile(ran)
	if err != nil {
		t.Fatal(err)
	}
	self := owner.run(t, "", "node", "describe", "self", "--output", "json")
	starts, there := map[string]int{}, 0
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		starts[f[2]]++
		if !strings.Contains(self, f[1]) {
			there++
		}
	}
	twice := 0
	for _, n := range starts {
		if n > 1 {
			twice++
		}
	}
	t.Logf("%d tasks, %d of them in the child grid, 4 restarts: lost %d, twice %d", *childTasks, there,
		*childTasks-len(starts), twice)
	if there < *childTasks/4 {
		t.Errorf("%d tasks ran in the child grid: want a quarter at least", there)
	}
	if len(starts) != *childTasks || twice > 0 {
		t.Errorf("lost %d, twice %d: want none\n%s", *childTasks-len(starts), twice, m.log)
	}
}
