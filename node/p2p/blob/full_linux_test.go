package blob

import (
	"errors"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"skep/grid"
)

func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount a file system")
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skip("cannot mount a file system: ", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	s := openStore(t, dir, grid.GiB)
	put(t, s, "small")
	if _, _, err := s.Put(ctx, io.LimitReader(zeros{}, 1<<20), grid.GiB, true); !errors.Is(err, ErrDisk) || leftovers(t, s) != 0 {
		t.Errorf("%d leftovers, %v", leftovers(t, s), err)
	}
	if read(t, s, nameOf("small")) != "small" {
		t.Error("what was there is lost")
	}
}
