package process

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skep/exec/sandbox"
)

// A task finds each of its secrets in a file in memory, which it alone can read and nobody can change. None is on disk.
func TestSecretsAreFilesInMemory(t *testing.T) {
	r := newRunner(t)
	if !r.sandbox.Boxes() {
		t.Skip("no boxes here")
	}
	s := spec(t, r, `cd "$SKEP_SECRETS" && cat first && cat -v second && wc -c < large && stat -c '%a %u %n' * &&
		stat -f -c %T . && ! chmod 600 first && ! rm -f first && ! touch other && id -u`)
	value := "not on any disk: " + strings.Repeat("x", 20)
	s.Secrets = []sandbox.Secret{{Name: "first", Value: []byte(value + "\n")},
		{Name: "second", Value: []byte{0, 1, '\n'}}, {Name: "large", Value: bytes.Repeat([]byte("0123456789abcdef"), 4096)}}
	res, out := run(t, r, s)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if res.Code() != 0 || len(lines) != 8 {
		t.Fatalf("exit %d, %q, %s", res.Code(), lines, output(t, s, Stderr))
	}
	user := lines[7]
	for i, want := range []string{value, "^@^A", "65536", "400 " + user + " first", "400 " + user + " large",
		"400 " + user + " second", "tmpfs"} {
		if lines[i] != want {
			t.Errorf("line %d is %q: want %q", i, lines[i], want)
		}
	}
	filepath.WalkDir(r.work, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Type()&fs.ModeNamedPipe != 0 || path == Output(s.Dir, Stdout) {
			return err
		}
		if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(value)) {
			t.Errorf("%s has the secret", path)
		}
		return nil
	})
	s = spec(t, r, `echo "<$SKEP_SECRETS>"; ls /task/secrets`)
	if _, out := run(t, r, s); out != "<>\n" {
		t.Errorf("the next task without secrets finds %q", out)
	}
}

// A command beside a task finds the task's secrets where the task does.
func TestCommandBesideATaskFindsItsSecrets(t *testing.T) {
	r := newRunner(t)
	if !r.sandbox.Boxes() {
		t.Skip("no boxes here")
	}
	s := spec(t, r, "echo ready; exec sleep 100")
	s.Secrets = []sandbox.Secret{{Name: "first", Value: []byte("a value")}}
	p := running(t, r, s)
	if out, errs, code := runBeside(t, r, p, shell(`cat "$SKEP_SECRETS/first"`), ""); out != "a value" || code != 0 {
		t.Errorf("%q, %q, exit %d", out, errs, code)
	}
	if len(p.spec.Secrets) != 1 || p.spec.Secrets[0].Value != nil || s.Secrets[0].Value == nil {
		t.Error("the node keeps the value, or has changed what its caller has")
	}
}

// A task that is in no box gets no secret: its files would be those of the machine.
func TestNoSecretsWithoutABox(t *testing.T) {
	r := bareRunner(t)
	s := spec(t, r, "true")
	s.Secrets = []sandbox.Secret{{Name: "first", Value: []byte("x")}}
	if _, err := r.Start(s); err == nil || !strings.Contains(err.Error(), "only tasks in boxes") {
		t.Errorf("%v: want a refusal", err)
	}
}
