package blob

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"skep/grid"
	"skep/node/p2p/disk"
)

// KeepFree's bytes stay free: neither a blob nor a copy of one takes them.
func TestKeepFree(t *testing.T) {
	dir := t.TempDir()
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount a file system")
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=32m"); err != nil {
		t.Skip("cannot mount a file system: ", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	s := openStore(t, filepath.Join(dir, "blobs"), grid.GiB)
	const floor = 8 << 20
	s.KeepFree(floor)
	large, _, err := s.Put(ctx, io.LimitReader(zeros{}, 12<<20), grid.GiB, true)
	if err != nil {
		t.Fatal(err)
	}
	_, _, tooLarge := s.Put(ctx, io.LimitReader(zeros{}, 16<<20), grid.GiB, true)
	for what, err := range map[string]error{"a blob": tooLarge,
		"a copy": errors.Join(s.Link(ctx, large, filepath.Join(dir, "first"), false),
			s.Link(ctx, large, filepath.Join(dir, "second"), false))} {
		if free, _ := disk.Free(dir); !errors.Is(err, ErrDisk) || free < floor {
			t.Errorf("%s that is too large: %d bytes are free, %v", what, free, err)
		}
	}
}

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
	if _, _, err := s.Put(ctx, io.LimitReader(zeros{}, 1<<20), grid.GiB, true); !errors.Is(err, ErrDisk) ||
		leftovers(t, s) != 0 {
		t.Errorf("%d leftovers, %v", leftovers(t, s), err)
	}
	if read(t, s, nameOf("small")) != "small" {
		t.Error("what was there is lost")
	}
}
