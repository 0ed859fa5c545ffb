package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// spoilBlobs flips a bit in each of a node's blobs of at least that size, and returns their number.
func (m *member) spoilBlobs(t *testing.T, least int64) (n int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(m.dir, "blobs", "??", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(b)) < least {
			continue
		}
		b[len(b)-1] ^= 1
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// A flipped bit in an output once gave exit code 0 and a wrong file. The file must come from another member, and if
// all copies are damaged it is an error.
func TestDamagedOutputsAreNotDownloaded(t *testing.T) {
	t.Parallel()
	ms := startGrid(t, "skep", 3)
	a, work := ms[0], t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("in", strings.Repeat("brought along\n", 20_000))
	write("job.yaml", "command: [sh, -c, 'cat in; cp in out; echo short > short']\ninputs: [in]\noutputs: [out, short]\n")
	id := strings.TrimSpace(a.run(t, "", "job", "submit", filepath.Join(work, "job.yaml")))
	a.run(t, "", "job", "wait", id)
	want := a.run(t, "", "job", "logs", id)
	if a.spoilBlobs(t, 1) == 0 {
		t.Fatal("the node that was asked keeps nothing")
	}
	dir := filepath.Join(work, "got")
	a.run(t, "", "job", "get", id, "-o", dir)
	for name, text := range map[string]string{"out": want, "short": "short\n"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != text {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
	if got := a.run(t, "", "job", "logs", id); got != want {
		t.Errorf("the log has become another one, of %d bytes", len(got))
	}
	if said := a.log.String(); !strings.Contains(said, "a blob was damaged on disk") {
		t.Errorf("nothing was said of it:\n%s", said)
	}
	kept := 0
	for _, m := range ms {
		kept += m.spoilBlobs(t, 1)
	}
	dir = filepath.Join(work, "again")
	out, err := exec.Command("skep", "--data-dir", a.dir, "job", "get", id, "-o", dir).CombinedOutput()
	if err == nil || !strings.Contains(string(out), `output "out": `) {
		t.Errorf("with %d damaged files it says %v\n%s", kept, err, out)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("it brought %v", left)
	}
	out, err = exec.Command("skep", "--data-dir", a.dir, "job", "logs", id).CombinedOutput()
	if err == nil || strings.Contains(string(out), "brought along") {
		t.Errorf("the log is printed: %v, %.300s", err, out)
	}
}
