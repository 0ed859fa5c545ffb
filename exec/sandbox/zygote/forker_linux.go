//go:build amd64 || arm64

package zygote

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The forker is the fork of the zygote that serves the node: a process of one thread without a Go runtime, whose
// scheduler and monitor would cost a box half as much again as making it does.

// forkerMain serves the node until that is gone. All signals stay blocked, also of what is forked from here.
//
//go:nosplit
//go:norace
func forkerMain() {
	call(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
	if bare { // to adopt what commands leave
		if _, errno := call(unix.SYS_PRCTL, unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); errno != 0 {
			exit(exitBroken)
		}
	}
	forgetHandlers()
	closeFds(childFd, lastFd)
	watchChildren()
	for {
		if await() {
			if !receive(controlFd) {
				exit(0)
			}
			serveNode(asked())
			closeReceived()
		}
		bury()
	}
}

var defaultAction [4]uint64 // a struct sigaction of the kernel: SIG_DFL

const signalCount = 64

// forgetHandlers gives all signals their default action, here and in what is forked from here: a Go handler must not
// run in a process without a runtime.
//
//go:nosplit
//go:norace
//go:nocheckptr
func forgetHandlers() {
	for s := uintptr(1); s <= signalCount; s++ {
		call(unix.SYS_RT_SIGACTION, s, uintptr(unsafe.Pointer(&defaultAction)), 0, 8, 0)
	}
}

// serveNode carries out a request of the node.
//
//go:nosplit
//go:norace
func serveNode(r *Request) {
	switch {
	case r.Op == OpBox && !bare:
		forkStub(r)
	case r.Op == OpBare && bare:
		forkCommand(r)
	case r.Op == OpSignal && bare:
		signalGroup(r.ID, uintptr(r.Signal))
	}
}

// forkStub forks a stub. What goes wrong from then on the stub tells by its own socket, of which this process keeps no
// copy.
//
//go:nosplit
//go:norace
func forkStub(r *Request) {
	flags := uintptr(unix.CLONE_NEWPID | unix.CLONE_NEWNS)
	if users {
		flags |= unix.CLONE_NEWUSER
	}
	if r.Flags&FlagJoin == 0 {
		flags |= unix.CLONE_NEWIPC
	}
	if r.Flags&FlagNetwork != 0 {
		flags |= unix.CLONE_NEWNET
	}
	place := childAt(0)
	if place < 0 {
		tellFailed(r.ID, StageFork, syscall.EAGAIN)
		return
	}
	var pid int
	var errno syscall.Errno
	stage := StageFork
	if r.Flags&FlagJoin != 0 {
		pid, stage, errno = forkJoined(flags)
	} else {
		role = roleStub
		pid, errno = fork(flags)
	}
	if errno != 0 {
		tellFailed(r.ID, stage, errno)
		return
	}
	note(place, r.ID, pid)
}

// forkCommand starts a command without a box.
//
//go:nosplit
//go:norace
func forkCommand(r *Request) {
	place := childAt(0)
	if place < 0 {
		tellFailed(r.ID, StageFork, syscall.EAGAIN)
		return
	}
	pid, stage, errno := run(r)
	if errno != 0 {
		tellFailed(r.ID, stage, errno)
		return
	}
	note(place, r.ID, pid)
	report = Report{ID: r.ID, Pid: int32(pid)}
	tell(ReportStarted, 0, 0)
}

//go:nosplit
//go:norace
func tellFailed(id uint64, stage Stage, errno syscall.Errno) {
	report = Report{ID: id}
	tell(ReportFailed, stage, errno)
}

// signalGroup signals the process group of a command; its number is not used again as long as the group has a process.
//
//go:nosplit
//go:norace
func signalGroup(id uint64, s uintptr) {
	for i := range childless {
		if x := &children[i]; x.id == id && x.pid != 0 {
			call(unix.SYS_KILL, -uintptr(x.pid), s, 0, 0, 0)
		}
	}
}
