//go:build amd64 || arm64

package zygote

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxChildren bounds the boxes, or the commands without one, that there are at a time.
const maxChildren = 16384

// child is a stub, or a command without a box, that this process has forked.
type child struct {
	id    uint64
	pid   int32 // 0 = a free place
	ended bool  // a command has, and has left others in its process group
}

var (
	children  [maxChildren]child
	childless int // all places from this one on are free
	lingering int // how many children have ended and are still there
)

// childAt is the place of a child by its process ID; that of 0 is a free place. −1: there is none.
//
//go:nosplit
//go:norace
func childAt(pid int32) int {
	for i := range childless {
		if children[i].pid == pid {
			return i
		}
	}
	if pid == 0 && childless < maxChildren {
		return childless
	}
	return -1
}

//go:nosplit
//go:norace
func note(place int, id uint64, pid int) {
	if uint(place) < maxChildren {
		children[place] = child{id: id, pid: int32(pid)}
		childless = max(childless, place+1)
	}
}

// forget frees the place of a child.
//
//go:nosplit
//go:norace
func forget(place int) {
	if uint(place) < maxChildren {
		children[place] = child{}
	}
	for childless > 0 && children[childless-1].pid == 0 {
		childless--
	}
}

// siginfoChild is the beginning of a siginfo_t of SIGCHLD, and as long as one.
type siginfoChild struct {
	signo, errno, code int32
	_                  int32
	pid                int32
	_                  [27]int32
}

var lastEnded siginfoChild

// bury takes all children that have ended. Commands keep their numbers until their group has been told to end.
//
//go:nosplit
//go:norace
//go:nocheckptr
func bury() {
	for {
		lastEnded.pid = 0
		_, errno := call(unix.SYS_WAITID, unix.P_ALL, 0, uintptr(unsafe.Pointer(&lastEnded)),
			unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, 0)
		pid := lastEnded.pid
		if errno != 0 || pid == 0 {
			break
		}
		place := childAt(pid)
		if place >= 0 && bare {
			call(unix.SYS_KILL, -uintptr(pid), uintptr(unix.SIGTERM), 0, 0, 0)
			call(unix.SYS_KILL, -uintptr(pid), uintptr(unix.SIGCONT), 0, 0, 0)
		}
		var status uint32
		_, errno = call(unix.SYS_WAIT4, uintptr(pid), uintptr(unsafe.Pointer(&status)), 0, uintptr(unsafe.Pointer(&usage)), 0)
		if errno == 0 && place >= 0 { // else an orphan
			childEnded(place, status)
		}
	}
	if lingering > 0 {
		buryGroups()
	}
}

// childEnded tells of a child that was waited for.
//
//go:nosplit
//go:norace
func childEnded(place int, status uint32) {
	x := &children[place&(maxChildren-1)]
	report = Report{ID: x.id, Pid: x.pid}
	switch {
	case !bare:
		forget(place)
		tellUsage(ReportGone, status)
	case groupLeft(x.pid):
		x.ended = true
		lingering++
		tellUsage(ReportExited, status)
	default:
		forget(place)
		tellUsage(ReportEmpty, status)
	}
}

// groupLeft reports whether a process group has a process.
//
//go:nosplit
//go:norace
func groupLeft(pid int32) bool {
	_, errno := call(unix.SYS_KILL, -uintptr(pid), 0, 0, 0, 0)
	return errno != syscall.ESRCH
}

// buryGroups takes what ended commands have left behind, once that has ended.
//
//go:nosplit
//go:norace
func buryGroups() {
	for i := range childless {
		if x := &children[i]; x.ended && !groupLeft(x.pid) {
			report = Report{ID: x.id, Pid: x.pid}
			lingering--
			forget(i)
			tell(ReportEmpty, 0, 0)
		}
	}
}
