package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each end of a job: run and job wait exit with the same code, job logs with 0 unless the output is not available.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	shared, expose := sharedFolder(t)
	m := startMember(t, "skep", "", append(expose, "--cache", "100KiB")...)
	begun := filepath.Join(shared, "begun")
	data := filepath.Join(t.TempDir(), "data.txt")
	if err := os.WriteFile(data, []byte("just data\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	long := "d=$(printf %0200d 1); mkdir -p $d/$d/$d/$d/$d; echo x > $d/$d/$d/$d/$d/$d; echo hi"
	for _, c := range []struct {
		name      string
		args      []string
		job, logs int
		says      string // of both run and job logs
	}{
		{"success", []string{"--", "echo", "hi"}, 0, 0, ""},
		{"its own code", []string{"--", "sh", "-c", "echo hi; exit 3"}, 3, 0, ""},
		{"the highest of several", []string{"--count", "3", "--", "sh", "-c", "echo hi; exit $SKEP_INDEX"}, 2, 0, ""},
		{"killed", []string{"--", "sh", "-c", "echo hi; kill -9 $$"}, 137, 0, ""},
		{"time limit", []string{"--timeout", "0.3", "--", "sh", "-c", "echo hi; exec sleep 60"}, 124, 0, "task 0: timed out"},
		{"cannot be executed", []string{"--", data}, 126, 0, "task 0: cannot execute"},
		{"not found", []string{"--", "no-such-program"}, 127, 0, "task 0: not found"},
		{"nobody can run it", []string{"--label", "zone=b", "--", "true"}, 121, 0, "nobody can run it"},
		{"not all that it left was kept", []string{"--output", "**", "--", "sh", "-c", long}, 125, 0,
			"its path of 1205 bytes"},
		{"lost", []string{"--retries", "0", "--output", "x", "--", "sh", "-c", "echo hi; head -c 200000 /dev/urandom >x"},
			125, 125, "task 0: lost"},
		{"cancelled", []string{"--", "sh", "-c", "echo hi; touch " + begun + "; exec sleep 60"}, 130, 0, "task 0: cancelled"},
	} {
		run := m.begin(t, append([]string{"run"}, c.args...)...)
		if c.name == "cancelled" {
			until(t, "it runs", func() bool { return exists(begun) })
			m.run(t, "", "job", "cancel", "last")
		}
		code := run.end(t)
		printed := []string{"job", "logs", "-f", "last"}
		if c.name == "the highest of several" { // followed, their lines come with the tasks' indices
			printed = []string{"job", "logs", "last"}
		}
		wait, logs := m.begin(t, "job", "wait", "last"), m.begin(t, printed...)
		if w, l := wait.end(t), logs.end(t); code != c.job || w != c.job || l != c.logs {
			t.Errorf("%s: run exits with %d, job wait with %d, job logs with %d: want %d, %d, %d\n%s%s", c.name, code, w, l,
				c.job, c.job, c.logs, &run.err, &logs.err)
		}
		if !strings.Contains(run.err.String(), c.says) || !strings.Contains(logs.err.String(), c.says) {
			t.Errorf("%s: run says %q and job logs %q: want %q", c.name, &run.err, &logs.err, c.says)
		}
		if l := logs.out.String(); c.logs == 0 && l != run.out.String() {
			t.Errorf("%s: run printed %q, job logs %q", c.name, &run.out, l)
		}
	}
}
