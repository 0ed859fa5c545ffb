package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// nowhere checks that a value is in no file of the data folders of nodes, in no log and in no command line.
func nowhere(t *testing.T, ms []*member, value string) {
	t.Helper()
	shapes := [][]byte{[]byte(value), []byte(base64.StdEncoding.EncodeToString([]byte(value))),
		[]byte(hex.EncodeToString([]byte(value)))}
	look := func(what string, b []byte) {
		for _, s := range shapes {
			if bytes.Contains(b, s) {
				t.Errorf("%s has the value of the secret", what)
			}
		}
	}
	files := 0
	for _, m := range ms {
		look("the log", []byte(m.log.String()))
		filepath.WalkDir(m.dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil // what is removed meanwhile
			}
			if b, err := os.ReadFile(path); err == nil {
				files++
				look(path, b)
			}
			return nil
		})
	}
	if files < 20 {
		t.Errorf("%d files were looked at", files)
	}
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		if b, err := os.ReadFile(name); err == nil {
			look(name, b)
		}
	}
}

// A secret that one node has set, and another holds, is found by a task at a third one: in a file in memory and, if
// asked, in a variable. It is nowhere else. While the node that holds it is away such a task waits, and says so.
func TestSecretsOfTasks(t *testing.T) {
	t.Parallel()
	ms := []*member{startMember(t, "skep", "", "--label", "at=a", "--name", "a", "--log-level", "debug")}
	for _, name := range []string{"b", "c"} {
		ms = append(ms, startMember(t, "skep", ms[0].join, "--label", "at="+name, "--name", name, "--log-level", "debug"))
	}
	awaitMembers(t, ms)
	a, b := ms[0], ms[1]
	if out := a.run(t, "", "node", "list"); strings.Contains(out, "none") {
		t.Skip("no boxes here")
	}
	const value = "correct-horse-battery-staple-4711"
	sum := sha256.Sum256([]byte(value))
	want := hex.EncodeToString(sum[:])
	a.run(t, value, "secret", "set", "db", "--on", "b", "--workers", "c")
	read := `sha256sum < "$SKEP_SECRETS/db"; printf %s "$PASSWORD" | sha256sum; echo "at $SKEP_NODE_NAME"`
	out := a.run(t, "", "run", "--secret", "db=PASSWORD", "--", "sh", "-c", read)
	if f := strings.Fields(out); len(f) != 6 || f[0] != want || f[2] != want || f[5] != "c" {
		t.Errorf("the task prints %q: want the sum %s twice, at c", out, want)
	}
	if out := a.run(t, "", "run", "--", "sh", "-c", `echo "<$SKEP_SECRETS>"`); out != "<>\n" {
		t.Errorf("a task without secrets prints %q", out)
	}

	// Neither the node that holds it nor the one that has set it may get it for a task.
	for _, at := range []string{"a", "b"} {
		cmd := exec.Command("skep", "--data-dir", a.dir, "run", "--label", "at="+at, "--secret", "db", "--", "true")
		text, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 121 || !strings.Contains(string(text), "may not get a secret") {
			t.Errorf("at %s: %v, %s: want 121, and why", at, err, text)
		}
	}
	// Jobs that are submitted elsewhere may not use it.
	cmd := exec.Command("skep", "--data-dir", b.dir, "run", "--secret", "db@b", "--", "true")
	const unusable = "no such secret for jobs of this node"
	if text, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(text), unusable) {
		t.Errorf("submitted elsewhere: %v, %s", err, text)
	}

	b.kill()
	id := strings.TrimSpace(a.run(t, "", "run", "--detach", "--secret", "db", "--", "sh", "-c",
		`sha256sum < $SKEP_SECRETS/db`))
	const why = "reaches no node that holds a secret of its job: secret db"
	deadline := time.Now().Add(time.Minute)
	for !strings.Contains(a.run(t, "", "job", "explain", id), why) {
		if time.Now().After(deadline) {
			t.Fatalf("explain: %s", a.run(t, "", "job", "explain", id))
		}
		time.Sleep(100 * time.Millisecond)
	}
	if text := a.run(t, "", "job", "describe", id); !strings.Contains(text, why) {
		t.Errorf("describe: %s", text)
	}
	b.start(t)
	a.run(t, "", "job", "wait", id)
	if out := a.run(t, "", "job", "logs", id); !strings.HasPrefix(out, want) {
		t.Errorf("once it is back: %q", out)
	}
	for _, m := range ms {
		for _, args := range [][]string{{"secret", "list"}, {"job", "describe", id}, {"job", "explain", id},
			{"node", "list"}, {"config", "show"}} {
			text := m.run(t, "", append(args, "--output", "json")...)
			if strings.Contains(text, value) || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(value))) {
				t.Errorf("%v prints the value", args)
			}
		}
	}
	nowhere(t, ms, value)

	a.run(t, "", "secret", "remove", "db")
	if held, _ := filepath.Glob(filepath.Join(b.dir, "secrets", "held-*")); len(held) > 0 {
		t.Errorf("after its removal b has %v", held)
	}
	cmd = exec.Command("skep", "--data-dir", a.dir, "run", "--secret", "db", "--", "true")
	if text, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(text), "has not set it") {
		t.Errorf("after its removal: %v, %s", err, text)
	}
}
