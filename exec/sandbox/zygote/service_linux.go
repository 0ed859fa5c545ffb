//go:build amd64 || arm64

package zygote

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// runOther runs a further command in the box.
//
//go:nosplit
//go:norace
func runOther(r *Request) {
	at := otherAt(0)
	if at < 0 || arrived < 3 {
		tell(ReportFailed, StageFork, syscall.EAGAIN)
		return
	}
	pid, stage, errno := run(r)
	if errno != 0 {
		tell(ReportFailed, stage, errno)
		return
	}
	others[at] = other{r.ID, int32(pid)}
	report.Pid = int32(pid)
	tell(ReportStarted, 0, 0)
}

// otherAt is the place of a further command, −1 if it is none; that of pid 0 is a free one.
//
//go:nosplit
//go:norace
func otherAt(pid int32) int {
	for i := range others {
		if others[i].pid == pid {
			return i
		}
	}
	return -1
}

// signalOther signals the process group of a further command, which has its number until the command has ended.
//
//go:nosplit
//go:norace
func signalOther(r *Request) {
	for i := range others {
		if x := &others[i]; x.pid != 0 && x.id == r.ID {
			call(unix.SYS_KILL, -uintptr(x.pid), uintptr(r.Signal), 0, 0, 0)
		}
	}
}

// terminal are the two ends of the terminal that was made last: the node's and the command's.
var terminal [2]int32

var unlocked int32

// openTerminal makes a terminal of the box. The command's end belongs to the command's user, or it could not be opened
// once more, as /dev/stdin is.
//
//go:nosplit
//go:norace
//go:nocheckptr
func openTerminal(r *Request) syscall.Errno {
	ours, errno := call(unix.SYS_OPENAT, atCwd, uintptr(text("/dev/pts/ptmx\x00")),
		unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0, 0)
	if errno != 0 {
		return errno
	}
	_, errno = call(unix.SYS_IOCTL, ours, unix.TIOCSPTLCK, uintptr(unsafe.Pointer(&unlocked)), 0, 0)
	if errno == 0 {
		_, errno = call(unix.SYS_IOCTL, ours, unix.TIOCSWINSZ, uintptr(unsafe.Pointer(&r.Command.Window)), 0, 0)
	}
	theirs := uintptr(0)
	if errno == 0 {
		theirs, errno = call(unix.SYS_IOCTL, ours, unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0, 0)
	}
	if errno == 0 && r.Command.UID != 0 {
		if _, errno = call(unix.SYS_FCHOWN, theirs, uintptr(r.Command.UID), uintptr(r.Command.GID), 0, 0); errno != 0 {
			call(unix.SYS_CLOSE, theirs, 0, 0, 0, 0)
		}
	}
	if errno != 0 {
		call(unix.SYS_CLOSE, ours, 0, 0, 0, 0)
		return errno
	}
	terminal[0], terminal[1] = int32(ours), int32(theirs)
	return 0
}

//go:nosplit
//go:norace
func sendTerminal(r *Request) {
	errno, n := openTerminal(r), 0
	if errno == 0 {
		ancillary.fds[0], ancillary.fds[1] = terminal[0], terminal[1]
		n = 2
	}
	answer(errno, n)
}

// listen makes a listening socket in the box's network and sends it.
//
//go:nosplit
//go:norace
//go:nocheckptr
func listen(r *Request) {
	fd, errno := call(unix.SYS_SOCKET, uintptr(r.Family), unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0, 0, 0)
	if errno != 0 {
		answer(errno, 0)
		return
	}
	ancillary.fds[0] = int32(fd)
	_, errno = call(unix.SYS_BIND, fd, uintptr(unsafe.Pointer(&r.Address)), uintptr(r.AddressLength), 0, 0)
	if errno == 0 {
		_, errno = call(unix.SYS_LISTEN, fd, uintptr(r.Backlog), 0, 0, 0)
	}
	answer(errno, 1)
}

// look sends what the box's processes, its shared memory and its System V objects can be seen by.
//
//go:nosplit
//go:norace
func look() {
	found := 0
	errno := find(&found, text("/proc\x00"), unix.O_PATH|unix.O_DIRECTORY)
	if errno == 0 {
		errno = find(&found, text("/dev/shm\x00"), unix.O_PATH|unix.O_DIRECTORY)
	}
	if errno == 0 {
		errno = find(&found, text("/proc/sysvipc/shm\x00"), unix.O_RDONLY)
	}
	if errno == 0 {
		errno = find(&found, text("/proc/sysvipc/sem\x00"), unix.O_RDONLY)
	}
	if errno == 0 {
		errno = find(&found, text("/proc/sysvipc/msg\x00"), unix.O_RDONLY)
	}
	answer(errno, found)
}

//go:nosplit
//go:norace
func find(found *int, path unsafe.Pointer, flags uintptr) syscall.Errno {
	fd, errno := call(unix.SYS_OPENAT, atCwd, uintptr(path), flags|unix.O_CLOEXEC, 0, 0)
	if errno == 0 {
		ancillary.fds[*found&7] = int32(fd)
		*found++
	}
	return errno
}
