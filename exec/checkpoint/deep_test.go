package checkpoint

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// nest makes folders nested in dir, which exists.
func nest(t *testing.T, dir string, depth int) {
	t.Helper()
	at, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	for ; err == nil && depth > 0; depth-- {
		if err = unix.Mkdirat(at, "d", 0o700); err != nil {
			break
		}
		above := at
		at, err = unix.Openat(above, "d", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		unix.Close(above)
	}
	if err != nil {
		t.Fatal(err)
	}
	unix.Close(at)
}

// A task that nests folders deep does not use up the node's file descriptors when they are removed.
func TestDeepIsRemovedWithFewDescriptors(t *testing.T) {
	dir := attempt(t, "state/1/f", "state/2/f", "state/3/f")
	nest(t, filepath.Join(dir, "work/state/1"), 1000)
	nest(t, filepath.Join(dir, "work/state/2"), 1000)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	few := limit
	few.Cur = 250
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	if _, err := Close(dir, "work", []uint64{2}); err != nil {
		t.Fatal(err)
	}
	want(t, "left in the work folder", there(t, dir, "work/state"), "[3]")
	Keep(dir, nil, math.MaxUint64)
	want(t, "left of the closed", there(t, dir, "closed"), "[]")
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("%v, %v: want work and closed alone", left, err)
	}
}
