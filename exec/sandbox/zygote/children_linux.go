//go:build amd64 || arm64

package zygote

import (
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// children are the stubs of boxes, or the commands without one, that this process has forked.
type children struct {
	boxes  bool
	forked chan struct{} // there is one to wait for

	mu    sync.Mutex // held from before a fork until it is noted: an end must not be seen before the beginning
	known map[int]*child
}

type child struct {
	id    uint64
	ended bool // a command has, and has left others in its process group
}

func newChildren(boxes bool) *children {
	return &children{boxes: boxes, forked: make(chan struct{}, 1), known: make(map[int]*child)}
}

// obey carries out a request of the node.
func (c *children) obey(r *Request) {
	switch {
	case r.Op == OpBox && c.boxes:
		c.box(r)
	case r.Op == OpBare && !c.boxes:
		c.command(r)
	case r.Op == OpSignal:
		c.signal(r.ID, syscall.Signal(r.Signal))
	}
}

// box forks a stub. What goes wrong from then on the stub tells by its own socket, of which this process keeps no copy.
func (c *children) box(r *Request) {
	flags := uintptr(unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC)
	if users {
		flags |= unix.CLONE_NEWUSER
	}
	if r.Flags&FlagNetwork != 0 {
		flags |= unix.CLONE_NEWNET
	}
	role = roleStub
	c.mu.Lock()
	defer c.mu.Unlock()
	old := block()
	pid, errno := fork(flags)
	unblock(old)
	c.note(r.ID, pid, StageFork, errno)
}

// command starts a command without a box.
func (c *children) command(r *Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := block()
	pid, stage, errno := run(r)
	unblock(old)
	if errno == 0 {
		tellNode(Report{Kind: ReportStarted, ID: r.ID, Pid: int32(pid)})
	}
	c.note(r.ID, pid, stage, errno)
}

func (c *children) note(id uint64, pid int, stage Stage, errno syscall.Errno) {
	if errno != 0 {
		tellNode(Report{Kind: ReportFailed, ID: id, Stage: stage, Errno: int32(errno)})
		return
	}
	c.known[pid] = &child{id: id}
	select {
	case c.forked <- struct{}{}:
	default:
	}
}

// signal signals the process group of a command; its number is not used again as long as the group has a process.
func (c *children) signal(id uint64, s syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for pid, x := range c.known {
		if x.id == id && !c.boxes {
			unix.Kill(-pid, s)
		}
	}
}

// reap waits for children for ever.
func (c *children) reap() {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOWAIT, nil)
		switch err {
		case nil:
			c.bury()
		case unix.ECHILD:
			<-c.forked
		}
	}
}

// bury takes all that have ended. They keep their numbers until their group has been told to end.
func (c *children) bury() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		pid, ok := ended()
		if !ok {
			break
		}
		x := c.known[pid]
		if x != nil && !c.boxes {
			unix.Kill(-pid, unix.SIGTERM)
			unix.Kill(-pid, unix.SIGCONT)
		}
		var status unix.WaitStatus
		var used unix.Rusage
		if _, err := unix.Wait4(pid, &status, 0, &used); err != nil || x == nil { // an orphan
			continue
		}
		r := Report{Kind: ReportGone, ID: x.id, Pid: int32(pid), Status: uint32(status),
			CPU: (used.Utime.Nano() + used.Stime.Nano()) / 1000, MaxRSS: int64(used.Maxrss)}
		if !c.boxes {
			x.ended, r.Kind = true, ReportExited
		} else {
			delete(c.known, pid)
		}
		tellNode(r)
	}
	for pid, x := range c.known {
		if x.ended && unix.Kill(-pid, 0) == unix.ESRCH {
			delete(c.known, pid)
			tellNode(Report{Kind: ReportEmpty, ID: x.id, Pid: int32(pid)})
		}
	}
}

// ended is a child that has ended and was not waited for yet.
func ended() (pid int, ok bool) {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
	pid = int((*siginfoChild)(unsafe.Pointer(&info)).pid)
	return pid, err == nil && pid != 0
}

// siginfoChild is the beginning of a siginfo_t of SIGCHLD.
type siginfoChild struct {
	signo, errno, code int32
	_                  int32
	pid                int32
}

// block blocks all signals of this thread: a child has the handlers of this process, and must not run them.
func block() (old uint64) {
	all := ^uint64(0)
	unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&all)),
		uintptr(unsafe.Pointer(&old)), 8, 0, 0)
	return old
}

func unblock(old uint64) {
	unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&old)), 0, 8, 0, 0)
}

// tellNode sends a report to the node.
func tellNode(r Report) {
	b := unsafe.Slice((*byte)(unsafe.Pointer(&r)), unsafe.Sizeof(r))
	unix.Send(nodeFd, b, unix.MSG_NOSIGNAL)
}
