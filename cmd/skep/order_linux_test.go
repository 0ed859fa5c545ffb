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

// A pipeline of three jobs, of which each task waits for that of its index in the job before and reads its file, is
// submitted through one node. That node is killed while the pipeline runs, and its disk is lost; another one is killed
// and comes back. The others bring it to its end, and each task finds the file of the task before.
func TestPipelineOutlivesItsSubmitNode(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes two takeovers' time")
	}
	ms := startGrid(t, buildSkep(t), 5, "--cpus", "1")
	a := ms[0]
	file := filepath.Join(t.TempDir(), "pipeline.yaml")
	const text = `jobs:
  first:
    {count: 8, retries: 20, outputs: [n], command: [sh, -c, "sleep 1; echo ${SKEP_INDEX} > n"]}
  second:
    {count: 8, retries: 20, after_each: first, outputs: [n], inputs: [{job: first, path: n, to: m}],
     command: [sh, -c, "sleep 1; cat m > n; echo second >> n"]}
  third:
    {count: 8, retries: 20, after_each: second, outputs: [n], inputs: [{job: second, path: n, to: m}],
     command: [sh, -c, "cat m > n; echo third >> n"]}
`
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var made struct{ Jobs []v1.Job }
	if err := json.Unmarshal([]byte(a.run(t, "", "job", "submit", file, "--output", "json")), &made); err != nil ||
		len(made.Jobs) != 3 {
		t.Fatalf("%+v, %v", made, err)
	}
	job := func(m *member, id string) (j v1.Job) {
		t.Helper()
		if err := json.Unmarshal([]byte(m.run(t, "", "job", "describe", id, "--output", "json")), &j); err != nil {
			t.Fatal(err)
		}
		return j
	}
	until(t, "a task of the second job has ended", func() bool { return job(a, made.Jobs[1].ID).Ended > 0 })
	a.kill()
	if err := os.RemoveAll(a.dir); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second) // the exact moment must not matter
	ms[1].kill()
	ms[1].start(t)
	b := ms[4]
	last := made.Jobs[2].ID // it was not over, so who takes it over says so
	until(t, "somebody has taken over the last job", func() bool {
		return exec.Command(b.skep, "--data-dir", b.dir, "job", "describe", last).Run() == nil
	})
	b.run(t, "", "job", "wait", last)
	if j := job(b, last); j.Ended != 8 || j.Failed != 0 {
		t.Errorf("%d ended, %d failed: %s", j.Ended, j.Failed, j.Stopped)
	}
	dir := t.TempDir()
	b.run(t, "", "job", "get", last, "-o", dir)
	for _, index := range strings.Fields("0 1 2 3 4 5 6 7") {
		left, err := os.ReadFile(filepath.Join(dir, index, "n"))
		if err != nil || string(left) != index+"\nsecond\nthird\n" {
			t.Errorf("task %s left %q, %v", index, left, err)
		}
	}
}
