package wal

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData syncs a file's content, and not the time of its last change.
func syncData(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); err != unix.EINTR {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}

// dropPages drops a file's content from memory. Linux caches what is written at once in pages of that size, up to all
// of the file, and counts such a page as written with each sector of it: in what the process has written to disk, and
// in what slows down writers on a machine that has much to write. What is read again has small pages.
func dropPages(f *os.File) { unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }
