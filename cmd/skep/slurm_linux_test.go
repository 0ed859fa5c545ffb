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

	"skep/internal/slurmtest"
)

var slurmTasks = flag.Int("slurm.tasks", 60, "tasks of TestSlurmNodeIsKilled")

// slurmNode starts a cluster of Slurm and a node that submits to it.
func slurmNode(t *testing.T, join string) (*slurmtest.Cluster, *member) {
	t.Helper()
	skep := buildSkep(t)
	c := slurmtest.Start(t, 8, 4096)
	m := startMember(t, skep, join, "--engine", "slurm", "--isolation", "none", "--label", "side=slurm")
	return c, m
}

// skep run on a node of a cluster is as on any other: output, exit code, time limit, outputs; what it cannot do is
// refused.
func TestRunInSlurm(t *testing.T) {
	_, m := slurmNode(t, "")
	for _, c := range []struct {
		args   []string
		code   int
		stdout string
	}{
		{[]string{"--", "sh", "-c", "echo out; echo err >&2; exit 3"}, 3, "out\n"},
		{[]string{"--", "sh", "-c", "kill -9 $$"}, 137, ""},
		{[]string{"--timeout", "1s", "--", "sleep", "100"}, 124, ""},
		{[]string{"--cpu", "2", "--memory", "100MiB", "--", "sh", "-c", "echo $SLURM_CPUS_PER_TASK $SKEP_CPUS"}, 0, "2 2\n"},
		{[]string{"--", "no-such-program"}, 127, ""},
	} {
		cmd := exec.Command(m.skep, append([]string{"--data-dir", m.dir, "run", "--quiet"}, c.args...)...)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, _ := cmd.Output()
		if code := cmd.ProcessState.ExitCode(); string(out) != c.stdout || code != c.code {
			t.Errorf("%v: %q, code %d, %s: want %q, %d", c.args, out, code, &stderr, c.stdout, c.code)
		}
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "job.yaml")
	job := "name: files\ncommand: [sh, -c, 'mkdir d; cat put >d/x; cat put']\ninputs: [put]\noutputs: ['d/*']\n"
	for name, text := range map[string]string{file: job, filepath.Join(dir, "put"): "content\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	id := strings.TrimSpace(m.run(t, "", "job", "submit", file))
	m.run(t, "", "job", "wait", id)
	m.run(t, "", "job", "get", id, "--output-dir", filepath.Join(dir, "got"))
	if got := m.run(t, "", "job", "logs", id); got != "content\n" {
		t.Errorf("it printed %q: want its input", got)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "got", "d", "x")); err != nil || string(b) != "content\n" {
		t.Errorf("output %q, %v: want its input", b, err)
	}
}

// A node of a cluster is killed, stopped, and started again, and the controller is, while tasks run and wait in Slurm:
// all end, none is lost and none runs twice. With -slurm.tasks 500 it is what make soak runs.
func TestSlurmNodeIsKilled(t *testing.T) {
	skep := buildSkep(t)
	dir, expose := sharedFolder(t, "ran")
	owner := startMember(t, skep, "", append([]string{"--cpus", "2", "--members", "1"}, expose...)...)
	c, m := slurmNode(t, owner.join)
	awaitMembers(t, []*member{owner, m})
	ran := filepath.Join(dir, "ran")
	id := strings.TrimSpace(owner.run(t, fmt.Sprintf("needs: {cpu: 1, memory: 32MiB}\ncount: %d\nretries: 3\n"+
		"command: [sh, -c, 'echo x$SLURM_JOB_ID $SKEP_INDEX >>%s; sleep 1.$((SKEP_INDEX %% 10)); echo done']\n", *slurmTasks,
		ran), "job", "submit", "-"))
	ended := func() int {
		var j struct {
			Ended int `json:"ended"`
		}
		if err := json.Unmarshal([]byte(owner.run(t, "", "job", "describe", id, "--output", "json")), &j); err != nil {
			t.Fatal(err)
		}
		return j.Ended
	}
	kills := 0
	for at := *slurmTasks / 5; kills < 4; at += *slurmTasks / 5 {
		for began := time.Now(); ended() < at; time.Sleep(50 * time.Millisecond) {
			if time.Since(began) > 5*time.Minute {
				t.Fatalf("%d tasks have ended: want %d\n%s", ended(), at, m.log)
			}
		}
		switch kills++; kills {
		case 2: // in order: what runs goes on
			m.stop()
		case 3: // the other side
			c.StopController()
			time.Sleep(2 * time.Second)
			c.StartController()
			continue
		default:
			m.kill()
		}
		time.Sleep(time.Duration(kills) * time.Second) // also for longer than an attempt lease of others lasts
		m.start(t)
	}
	owner.run(t, "", "job", "wait", id)
	text, err := os.ReadFile(ran)
	if err != nil {
		t.Fatal(err)
	}
	starts, batch := map[string]int{}, 0
	for line := range strings.Lines(string(text)) {
		job, index, _ := strings.Cut(strings.TrimSpace(line), " ")
		starts[index]++
		if job != "x" {
			batch++
		}
	}
	twice := 0
	for _, n := range starts {
		if n > 1 {
			twice++
		}
	}
	t.Logf("%d tasks, %d of them in Slurm, %d restarts: lost %d, twice %d", *slurmTasks, batch, kills,
		*slurmTasks-len(starts), twice)
	if batch < *slurmTasks/4 {
		t.Errorf("%d tasks ran in Slurm: want a quarter at least", batch)
	}
	if len(starts) != *slurmTasks || twice > 0 {
		t.Errorf("lost %d, twice %d: want none", *slurmTasks-len(starts), twice)
	}
}
