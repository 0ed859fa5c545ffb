//go:build unix

package stdin

import (
	"os"

	"golang.org/x/sys/unix"
)

// Waiting reports whether a standard input holds something that nobody has read.
func Waiting(f *os.File) bool {
	if !holdsInput(f) {
		return false
	}
	if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
		return true
	}
	return buffered(f) > 0
}

// ended reports whether a pipe or socket is empty and stays so.
func ended(f *os.File) bool {
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	poll := []unix.PollFd{{Events: unix.POLLIN}}
	conn.Control(func(fd uintptr) {
		poll[0].Fd = int32(fd)
		_, err = unix.Poll(poll, 0)
	})
	return err == nil && poll[0].Revents&unix.POLLHUP != 0 && buffered(f) == 0
}

// buffered is the number of bytes that a pipe or socket holds.
func buffered(f *os.File) (n int) {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	conn.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), inputSize) })
	return n
}
