package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skep/node/api/v1"
)

// A job's origin is killed and its disk is lost. The job has a program and an input file; one of its tasks ran and the
// others were waiting: any other node shows it done, with its output files and its long log.
func TestOriginLostForGood(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes two takeovers' time")
	}
	ms := startGrid(t, buildSkep(t), 4, "--cpus", "1")
	a := ms[0]
	work := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("prog", "#!/bin/sh\nsleep 2\nseq 1 20000\ncat data > out-$SKEP_INDEX\necho $SKEP_INDEX >> out-$SKEP_INDEX\n",
		0o755)
	data := strings.Repeat("brought along\n", 8000)
	write("data", data, 0o644)
	write("job.yaml", "command: [./prog]\ninputs: [data]\noutputs: ['out-*']\ncount: 8\nretries: 5\n", 0o644)
	id := strings.TrimSpace(a.run(t, "", "job", "submit", filepath.Join(work, "job.yaml")))
	until(t, "a task runs", func() bool { return strings.Contains(a.run(t, "", "job", "describe", id), "1 running") })
	time.Sleep(500 * time.Millisecond) // during the first tasks: the exact moment must not matter
	a.kill()
	if err := os.RemoveAll(a.dir); err != nil {
		t.Fatal(err)
	}
	for _, m := range ms[1:] {
		until(t, "the node knows who owns the job now", func() bool { // takeovers are announced
			return exec.Command(m.skep, "--data-dir", m.dir, "job", "describe", id).Run() == nil
		})
		m.run(t, "", "job", "wait", id)
		var job v1.Job
		if err := json.Unmarshal([]byte(m.run(t, "", "job", "describe", id, "--output", "json")), &job); err != nil {
			t.Fatal(err)
		}
		if job.Ended != 8 || job.Failed != 0 || len(job.Members) != 3 || job.Owner == job.Origin {
			t.Errorf("%+v", job)
		}
		dir := t.TempDir()
		m.run(t, "", "job", "get", id, "-o", dir)
		for _, index := range []string{"0", "7"} {
			found, _ := filepath.Glob(filepath.Join(dir, "*", "out-"+index))
			if len(found) != 1 {
				t.Fatalf("task %s: output files %v", index, found)
			}
			if b, err := os.ReadFile(found[0]); err != nil || string(b) != data+index+"\n" {
				t.Errorf("task %s: %d bytes of output, %v", index, len(b), err)
			}
			if log := m.run(t, "", "job", "logs", id+"/"+index); len(log) < 64<<10 || !strings.HasSuffix(log, "\n20000\n") {
				t.Errorf("task %s: a log of %d bytes", index, len(log))
			}
		}
	}
}
