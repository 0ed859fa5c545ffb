//go:build unix

package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"skep/exec/progress"
)

// The folder of an attempt is used again; those in it, which its task may have changed or may hold open, are not.
func TestOnlyTheOuterFolderIsUsedAgain(t *testing.T) {
	both(t, func(t *testing.T, r *Runner) {
		if !r.sandbox.Boxes() && os.Geteuid() != 0 {
			t.Skip("here a task can change the outer folder")
		}
		first, second := filepath.Join(r.work, "first"), filepath.Join(r.work, "second")
		if err := r.Prepare(first, Account{}); err != nil {
			t.Fatal(err)
		}
		outer, err := os.Stat(first)
		if err != nil {
			t.Fatal(err)
		}
		var held [2]int
		for i, name := range [...]string{workName, tempName} {
			dir := filepath.Join(first, name)
			if err := os.WriteFile(filepath.Join(dir, "left"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if held[i], err = unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
				t.Fatal(err)
			}
			defer unix.Close(held[i])
		}
		if err := r.Remove(first); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(first); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it is still there: %v", err)
		}
		if err := r.Prepare(second, Account{}); err != nil {
			t.Fatal(err)
		}
		if again, err := os.Stat(second); err != nil || !os.SameFile(outer, again) || again.Mode() != outer.Mode() {
			t.Errorf("another outer folder: %v", err)
		}
		for i, name := range [...]string{workName, tempName} {
			if fd, err := unix.Openat(held[i], "x", unix.O_CREAT|unix.O_WRONLY, 0o600); err != unix.ENOENT {
				unix.Close(fd)
				t.Errorf("%s: the folder of the first attempt is still there: %v", name, err)
			}
			left, err := os.ReadDir(filepath.Join(second, name))
			if name == tempName && len(left) == 1 && left[0].Name() == progress.Name { // a new one, as its folder is
				left = nil
			}
			if len(left) != 0 || err != nil {
				t.Errorf("%s has %v, %v", name, left, err)
			}
		}
	})
}

// Spare folders are bounded, and that of a task of which a process hangs is none.
func TestSparesAreBounded(t *testing.T) {
	r := newRunner(t)
	if !r.sandbox.Boxes() && os.Getuid() != 0 {
		t.Skip("here a task can change the outer folder")
	}
	prepare := func(i int) string {
		dir := filepath.Join(r.work, fmt.Sprint(i))
		if err := r.Prepare(dir, Account{}); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	r.hung[prepare(0)] = true
	if err := r.Remove(filepath.Join(r.work, "0")); err != nil || len(r.spares.free) != 0 {
		t.Errorf("%d spare folders, %v: want none", len(r.spares.free), err)
	}
	for i := range maxSpares + 10 {
		prepare(i)
	}
	for i := range maxSpares + 10 {
		if err := r.Remove(filepath.Join(r.work, fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	left, err := os.ReadDir(r.spares.dir)
	if err != nil || len(left) != maxSpares || len(r.spares.free) != maxSpares {
		t.Errorf("%d spare folders, %d known, %v: want %d", len(left), len(r.spares.free), err, maxSpares)
	}
}

// A spare folder in which a task has left something is not used again.
func TestSpareWithALeftoverIsRemoved(t *testing.T) {
	var s spares
	s.open(filepath.Join(t.TempDir(), "spare"))
	for _, left := range []string{"left", workName} {
		dir := filepath.Join(t.TempDir(), "attempt")
		if _, err := s.take(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, left), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if !s.keep(dir) {
			t.Error("the folder is not moved away")
		}
		if in, err := os.ReadDir(s.dir); err != nil || len(in) > 0 || len(s.free) > 0 {
			t.Errorf("after %s was left there are %v, %v", left, in, err)
		}
	}
}

// After its end, and where there is no folder for them, there are no spare folders: an attempt's folder is made where
// it is to be, and nothing else is touched.
func TestNoSparesAfterTheEnd(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("1/precious", 0o700); err != nil {
		t.Fatal(err)
	}
	var ended, never spares
	ended.open(filepath.Join(t.TempDir(), "spare"))
	ended.close()
	never.open(filepath.Join(os.DevNull, "spare"))
	for name, s := range map[string]*spares{"ended": &ended, "never": &never} {
		dir := filepath.Join(t.TempDir(), name)
		if _, err := s.take(dir, 0o700); err != nil {
			t.Error(err)
		}
		if st, err := os.Stat(dir); err != nil || !st.IsDir() {
			t.Errorf("%s: no folder: %v", name, err)
		}
		if s.keep(dir) {
			t.Errorf("%s: the folder is kept", name)
		}
	}
	if _, err := os.Stat("1/precious"); err != nil {
		t.Error(err)
	}
}
