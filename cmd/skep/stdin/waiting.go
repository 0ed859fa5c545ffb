//go:build unix

package stdin

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Waiting reports whether a standard input holds something that nobody has read.
func Waiting(f *os.File) bool {
	if !holdsInput(f, 0) {
		return false
	}
	if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
		return true
	}
	return buffered(f) > 0
}

// ended reports whether a pipe or socket is empty and stays so. It waits for the first byte or the end, but no longer
// than that.
func ended(f *os.File, wait time.Duration) bool {
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	poll := []unix.PollFd{{Events: unix.POLLIN}}
	until := time.Now().Add(wait)
	conn.Control(func(fd uintptr) {
		poll[0].Fd = int32(fd)
		for {
			_, err = unix.Poll(poll, int(max(0, time.Until(until)).Milliseconds()))
			if err != unix.EINTR {
				return
			}
		}
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
