package process

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A program that is on the machine and that no box shows ends with 126 and names the remedy; what is exposed runs.
func TestProgramOutsideTheBox(t *testing.T) {
	r := newRunner(t)
	if !r.sandbox.Boxes() {
		t.Skip("no boxes here")
	}
	home, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	elsewhere, err := os.MkdirTemp(home, "skep-process-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(elsewhere)
	hidden, temp := filepath.Join(elsewhere, "prog"), filepath.Join(t.TempDir(), "prog")
	for _, name := range []string{hidden, temp} {
		if err := os.WriteFile(name, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, argv := range [][]string{{hidden}, {"prog"}, {temp}} {
		s := spec(t, r, "")
		s.Argv, s.Env = argv, []string{"PATH=" + filepath.Dir(hidden)}
		_, err := r.Start(s)
		var no *ExecError
		if !errors.As(err, &no) || no.Code() != 126 || !strings.Contains(err.Error(), "--expose") {
			t.Errorf("%v: %v: want 126 and the remedy", argv, err)
		}
	}
	s := spec(t, r, "")
	put(t, r, s, "script", "#!"+hidden+"\n", 0o755)
	s.Argv = []string{"./script"}
	if _, err := r.Start(s); err == nil || !strings.Contains(err.Error(), "--expose") {
		t.Errorf("an interpreter outside the box: %v", err)
	}
}

// Where tasks have users of their own and no boxes, a folder on the way to theirs that lets nobody pass is named before
// any task fails.
func TestPassable(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("tasks run as this user")
	}
	shut := t.TempDir()
	if err := os.Chmod(shut, 0o700); err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(shut, "work")
	if err := bareRunner(t).Passable(work); err == nil || !strings.Contains(err.Error(), "cannot pass through "+shut) {
		t.Errorf("%v: want %s named", err, shut)
	}
	if r := newRunner(t); r.Boxed() && r.Passable(work) != nil {
		t.Error("with boxes nobody has to pass")
	}
}

// What the node's parent left open reaches no task, in a box or without.
func TestNoDescriptorIsInherited(t *testing.T) {
	fd, err := unix.Open(os.DevNull, unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for name, r := range map[string]*Runner{"boxed": newRunner(t), "bare": bareRunner(t)} {
		s := spec(t, r, `for f in /proc/$$/fd/*; do echo ${f##*/}; done`)
		// the last is the shell's own, to look
		if _, out := run(t, r, s); strings.Join(strings.Fields(out), " ") != "0 1 2 3" {
			t.Errorf("%s: a task has the descriptors %q", name, out)
		}
	}
}
