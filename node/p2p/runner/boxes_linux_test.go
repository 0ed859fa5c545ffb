package runner

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A folder of attempts that cannot be removed is renamed, and removed at a later start: no task can keep a node
// from starting.
func TestUnremovableWorkFolderIsRenamed(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to make a folder that cannot be removed")
	}
	work := filepath.Join(t.TempDir(), "work")
	mount := filepath.Join(work, "attempt", "mount")
	if err := os.MkdirAll(mount, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", mount, "tmpfs", 0, ""); err != nil {
		t.Skip("cannot mount: ", err)
	}
	err := clearWork(work)
	aside, _ := filepath.Glob(work + asideSuffix + "*")
	for _, dir := range append(aside, work) {
		unix.Unmount(filepath.Join(dir, "attempt", "mount"), 0)
	}
	if _, gone := os.Lstat(work); err == nil || len(aside) != 1 || !os.IsNotExist(gone) {
		t.Errorf("%v, aside are %v, the folder: %v", err, aside, gone)
	}
	if err := clearWork(work); err != nil {
		t.Error(err)
	}
	if aside, _ = filepath.Glob(work + asideSuffix + "*"); len(aside) > 0 {
		t.Errorf("%v stay", aside)
	}
}
