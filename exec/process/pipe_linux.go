package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// inputRoom is how much a pipe for a task's standard input takes before its task reads: some messages from a peer, so
// that neither end waits for the other at each.
const inputRoom = 256 << 10

// enlarge makes a pipe take more. The kernel may refuse it to a user who has many: then it stays as it is.
func enlarge(f *os.File) {
	c, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, inputRoom) })
}
