//go:build amd64 || arm64

package zygote

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The descriptors of the forker and of a stub. Standard streams are the task's until it runs.
const (
	controlFd = 3 // the socket to the node; each stub has one of its own
	childFd   = 4 // readable when a child has ended
)

// What a fork finds here was put there by the zygote before. Nothing in it points into the heap.
var (
	request  [MaxRequest]byte // under way; of a stub, what it was made for and later what it is asked
	received [maxFds]int32    // descriptors that came with it
	arrived  int

	cookie  uint64
	users   bool     // boxes have a user namespace each
	uidMap  [64]byte // what is written to uid_map and gid_map
	gidMap  [64]byte
	handled landlockAttr
	rules   [maxRules]landlockRule
	ruled   int
	noUnix  [11]unix.SockFilter // a filter that forbids Unix sockets
	noUnixs unix.SockFprog
)

const (
	maxFds   = 16 // a power of two
	maxRules = 64
)

// What a stub knows of its box.
var (
	mainPid    int
	mainStatus uint32
	mainEnded  bool
	mainID     uint64
	others     [MaxOthers]other // further commands that run
	report     Report
	usage      syscall.Rusage
	signals    uint64 // a set with SIGCHLD in it
	none       uint64
	polled     [2]unix.PollFd
)

// other is a command that was run in the box besides the task.
type other struct {
	id  uint64
	pid int32
}

// stubMain is the life of process 1 of a box.
//
//go:nosplit
//go:norace
//go:nocheckptr
func stubMain() {
	r := asked()
	mainID, report = r.ID, Report{ID: r.ID}
	keepFds()
	if stage, errno := furnish(r); errno != 0 {
		tell(ReportFailed, stage, errno)
		exit(exitBroken)
	}
	if r.Flags&FlagHold != 0 {
		tell(ReportStarted, 0, 0)
	} else {
		runMain(r)
	}
	closeFds(0, controlFd-1)
	closeFds(childFd, lastFd)
	watchChildren()
	for !reap() {
		if !await() {
			continue
		}
		if !receive(controlFd) { // the node is gone: the kernel ends all that is in the box
			exit(exitBroken)
		}
		obey()
		closeReceived()
	}
	exit(0)
}

// runMain runs the command that the box is made for.
//
//go:nosplit
//go:norace
func runMain(r *Request) {
	ends := 0
	if r.Flags&FlagTerminal != 0 {
		if errno := openTerminal(r); errno != 0 {
			tell(ReportFailed, StageTerminal, errno)
			exit(exitBroken)
		}
		for i := range 3 {
			received[i] = terminal[1]
		}
		ends = 1
	}
	pid, stage, errno := run(r)
	if errno != 0 {
		tell(ReportFailed, stage, errno)
		exit(exitBroken)
	}
	mainPid, report.Pid = pid, int32(pid)
	ancillary.fds[0] = terminal[0]
	tellFiles(ReportStarted, ends)
}

// watchChildren makes childFd.
//
//go:nosplit
//go:norace
//go:nocheckptr
func watchChildren() {
	signals = 1 << (unix.SIGCHLD - 1)
	fd, errno := call(unix.SYS_SIGNALFD4, ^uintptr(0), uintptr(unsafe.Pointer(&signals)), 8,
		unix.SFD_CLOEXEC|unix.SFD_NONBLOCK, 0)
	if errno != 0 {
		exit(exitBroken)
	}
	if fd != childFd {
		if _, errno := call(unix.SYS_DUP3, fd, childFd, unix.O_CLOEXEC, 0, 0); errno != 0 {
			exit(exitBroken)
		}
		call(unix.SYS_CLOSE, fd, 0, 0, 0, 0)
	}
}

// await returns when a child has ended, or with true when there is a request, or the node is gone.
//
//go:nosplit
//go:norace
//go:nocheckptr
func await() (asked bool) {
	polled[0] = unix.PollFd{Fd: controlFd, Events: unix.POLLIN}
	polled[1] = unix.PollFd{Fd: childFd, Events: unix.POLLIN}
	if _, errno := call(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&polled)), 2, 0, 0, 0); errno != 0 {
		return false
	}
	if polled[1].Revents != 0 { // what it says is not needed, but that it was said
		call(unix.SYS_READ, childFd, uintptr(unsafe.Pointer(&request)), 128, 0, 0)
	}
	return polled[0].Revents != 0
}

// closeReceived closes the descriptors that came with a request.
//
//go:nosplit
//go:norace
func closeReceived() {
	for i := range arrived {
		call(unix.SYS_CLOSE, uintptr(received[i]), 0, 0, 0, 0)
	}
}

// reap takes what has ended, tells of the command, and reports whether nothing is left.
//
//go:nosplit
//go:norace
//go:nocheckptr
func reap() bool {
	for {
		var status uint32
		pid, errno := call(unix.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&status)), unix.WNOHANG,
			uintptr(unsafe.Pointer(&usage)), 0)
		switch {
		case errno == syscall.ECHILD && mainEnded:
			call(unix.SYS_GETRUSAGE, ^uintptr(0), uintptr(unsafe.Pointer(&usage)), 0, 0, 0) // of its children
			report.ID = mainID
			tellUsage(ReportEmpty, mainStatus)
			return true
		case errno != 0 || pid == 0:
			return false
		case int(pid) == mainPid:
			mainEnded, mainStatus = true, status
			if _, errno := call(unix.SYS_KILL, ^uintptr(0), uintptr(unix.SIGTERM), 0, 0, 0); errno == 0 { // it left others
				call(unix.SYS_KILL, ^uintptr(0), uintptr(unix.SIGCONT), 0, 0, 0)
				report.ID = mainID
				tellUsage(ReportExited, status)
			}
		default: // an orphan, or another command
			if at := otherAt(int32(pid)); at >= 0 {
				report.ID = others[at].id
				others[at] = other{}
				if _, errno := call(unix.SYS_KILL, -pid, uintptr(unix.SIGTERM), 0, 0, 0); errno == 0 { // it left others
					call(unix.SYS_KILL, -pid, uintptr(unix.SIGCONT), 0, 0, 0)
				}
				tellUsage(ReportExited, status)
			}
		}
	}
}

// obey does what a request asks of a stub.
//
//go:nosplit
//go:norace
//go:nocheckptr
func obey() {
	r := asked()
	report.ID = r.ID
	switch r.Op {
	case OpSignal:
		call(unix.SYS_KILL, uintptr(r.Target), uintptr(r.Signal), 0, 0, 0)
	case OpRun:
		runOther(r)
	case OpListen:
		listen(r)
	case OpLook:
		look()
	case OpTerminal:
		sendTerminal(r)
	case OpSignalRun:
		signalOther(r)
	case OpShare:
		share()
	case OpTUN:
		openTUN()
	case OpSocket:
		makeSocket(r)
	}
}

//go:nosplit
//go:norace
func tell(kind ReportKind, stage Stage, errno syscall.Errno) {
	report.Kind, report.Stage, report.Errno = kind, stage, int32(errno)
	send(controlFd)
}

//go:nosplit
//go:norace
func tellUsage(kind ReportKind, status uint32) {
	report.Status = status
	report.CPU = int64(usage.Utime.Sec+usage.Stime.Sec)*1e6 + int64(usage.Utime.Usec+usage.Stime.Usec)
	report.MaxRSS = int64(usage.Maxrss)
	tell(kind, 0, 0)
}
