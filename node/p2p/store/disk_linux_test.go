package store

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"skep/grid"
)

// mount mounts a small file system in memory on dir; such tests need root.
func mount(t *testing.T, dir, options string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount a file system")
	}
	flags := uintptr(0)
	if options == "ro" {
		flags, options = unix.MS_RDONLY, ""
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", flags, options); err != nil {
		t.Skip("cannot mount a file system: ", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
}

// A full disk is an error that says so; what was saved before stays. Where there is no space for the log the database
// is used without it.
func TestDiskFull(t *testing.T) {
	for size, hasLog := range map[string]bool{"size=512k": false, "size=2m": true} {
		t.Run(size, func(t *testing.T) { fillUp(t, size, hasLog) })
	}
}

func fillUp(t *testing.T, size string, hasLog bool) {
	dir := t.TempDir()
	mount(t, dir, size)
	s := open(t, dir)
	saved := 0
	for n := uint32(0); ; n += batchSize {
		if n > 1_000_000 {
			t.Fatal("it holds a million records")
		}
		var batch []grid.Record
		for i := range uint32(batchSize) {
			batch = append(batch, task(n+i))
		}
		if err := s.Commit(batch); err != nil {
			wantError(t, err, ErrFull, dir, "the disk is full")
			break
		}
		saved += len(batch)
	}
	if (s.log.file != nil) != hasLog {
		t.Errorf("a log is in use: %v", !hasLog)
	}
	if hasLog { // what it holds does not fit into the database
		if err := s.Load(nil); !errors.Is(err, ErrFull) {
			t.Errorf("it reads with an error of %v", err)
		}
		wantError(t, s.Close(), ErrFull, dir, "the disk is full")
		_, err := Open(dir)
		wantError(t, err, ErrFull, dir, "the disk is full")
		if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, "size=64m"); err != nil {
			t.Fatal(err)
		}
	} else {
		if n := len(load(t, s)); n != saved || n == 0 {
			t.Errorf("%d records, %d were saved", n, saved)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(load(t, open(t, dir))); n != saved {
		t.Errorf("after a start: %d records, %d were saved", n, saved)
	}
}
