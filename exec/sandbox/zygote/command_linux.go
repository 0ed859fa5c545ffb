//go:build amd64 || arm64

package zygote

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// exitBroken is how a child ends that could not do what it was made for, after it has said so.
const exitBroken = 125

// What a command does until its exec. It shares the memory of whoever made it, which waits, so it leaves here how far
// it came.
var (
	bare      bool                    // in no box
	program   int32                   // to be executed if FlagExecFile is set
	words     [MaxStrings + 4]uintptr // argv, nil, envp, nil
	failed    Stage
	failure   syscall.Errno
	ruleset   uintptr
	confined  bool // ruleset is to be enforced
	noMembers uint32
)

// run starts the command of a request, whose descriptors are its standard streams and its program.
//
//go:nosplit
//go:norace
func run(r *Request) (pid int, stage Stage, errno syscall.Errno) {
	role, failed, failure, confined = roleCommand, 0, 0, false
	if r.Flags&FlagExecFile != 0 {
		program = received[3]
	}
	if handled.fs|handled.scoped != 0 && !bare {
		if errno := makeRuleset(); errno != 0 {
			return 0, StageLandlock, errno
		}
	}
	pid, errno = vfork()
	if confined {
		call(unix.SYS_CLOSE, ruleset, 0, 0, 0, 0)
	}
	switch {
	case errno != 0:
		return 0, StageFork, errno
	case failed != 0:
		call(unix.SYS_WAIT4, uintptr(pid), 0, 0, 0, 0)
		return 0, failed, failure
	}
	return pid, 0, 0
}

// commandMain restricts this process and becomes the command. The order matters: each step needs what a later one takes
// away.
//
//go:nosplit
//go:norace
func commandMain() {
	r := asked()
	c := &r.Command
	call(unix.SYS_SETSID, 0, 0, 0, 0, 0)
	for i := range uintptr(3) {
		if uintptr(received[i]) == i {
			call(unix.SYS_FCNTL, i, unix.F_SETFD, 0, 0, 0)
		} else {
			call(unix.SYS_DUP3, uintptr(received[i]), i, 0, 0, 0)
		}
	}
	if r.Flags&FlagTerminal != 0 {
		failed = StageTerminal
		_, failure = call(unix.SYS_IOCTL, 0, unix.TIOCSCTTY, 0, 0, 0)
	}
	if failure == 0 {
		failed, failure = StageLimit, limit(c)
	}
	if failure == 0 && c.AffinityLength > 0 {
		failed, failure = StageAffinity, pin(c)
	}
	if failure == 0 && c.Nice != 0 {
		failed, failure = StageNice, renice(c.Nice)
	}
	if failure == 0 && bare { // in a box it has that of the stub; another user may not write to it
		failed, failure = StageOOM, overwrite(text("/proc/self/oom_score_adj\x00"), at(r, c.OOM))
	}
	if failure == 0 && c.UID != 0 {
		failed, failure = StageUser, become(c)
	}
	if failure == 0 && bare { // a stub that ends takes all with it; taking a user clears the signal
		call(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
	}
	if failure == 0 && confined {
		failed = StageLandlock
		_, failure = call(unix.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0, 0, 0, 0)
	}
	if failure == 0 && r.Flags&FlagNoUnix != 0 {
		failed, failure = StageFilter, forbidUnix()
	}
	if failure == 0 {
		call(unix.SYS_UMASK, 0o077, 0, 0, 0, 0)
		failed = StageDir
		_, failure = call(unix.SYS_CHDIR, uintptr(at(r, c.Dir)), 0, 0, 0, 0)
	}
	if failure == 0 {
		execute(r)
	}
	exit(exitBroken)
}

// execute returns only if the program could not be executed.
//
//go:nosplit
//go:norace
//go:nocheckptr
func execute(r *Request) {
	c := &r.Command
	next := list(0, at(r, c.Argv), c.Argc)
	list(next, at(r, c.Env), c.Envc)
	argv, env := uintptr(unsafe.Pointer(&words[0])), uintptr(unsafe.Pointer(&words[next]))
	call(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&none)), 0, 8, 0)
	failed = 0
	var errno syscall.Errno
	if r.Flags&FlagExecFile != 0 {
		_, errno = call(unix.SYS_EXECVEAT, uintptr(program), uintptr(text("\x00")), argv, env, unix.AT_EMPTY_PATH)
	} else {
		_, errno = call(unix.SYS_EXECVE, uintptr(at(r, c.Path)), argv, env, 0, 0)
	}
	failed, failure = StageExec, errno
}

// list puts the addresses of n texts, the first at an address, into words from a place on, and a zero; it returns the
// place behind that.
//
//go:nosplit
//go:norace
//go:nocheckptr
func list(place int, from unsafe.Pointer, n uint32) int {
	for range n {
		words[place] = uintptr(from)
		place++
		from = unsafe.Add(from, length(from)+1)
	}
	words[place] = 0
	return place + 1
}

//go:nosplit
//go:norace
//go:nocheckptr
func limit(c *Command) syscall.Errno {
	for i := range c.Limits {
		l := &c.Limits[i]
		if l.What == 0 {
			continue
		}
		_, errno := call(unix.SYS_PRLIMIT64, 0, uintptr(l.What-1), uintptr(unsafe.Pointer(&l.Cur)), 0, 0)
		if errno != 0 {
			return errno
		}
	}
	return 0
}

// pin keeps this process, and what it starts, on the processors of its command.
//
//go:nosplit
//go:norace
//go:nocheckptr
func pin(c *Command) syscall.Errno {
	_, errno := call(unix.SYS_SCHED_SETAFFINITY, 0, uintptr(c.AffinityLength), uintptr(unsafe.Pointer(&c.Affinity)), 0, 0)
	return errno
}

// renice adds to the niceness of this process.
//
//go:nosplit
//go:norace
func renice(by int32) syscall.Errno {
	now, errno := call(unix.SYS_GETPRIORITY, unix.PRIO_PROCESS, 0, 0, 0, 0) // counted from 40 down to 1
	if errno == 0 {
		_, errno = call(unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, 0, uintptr(min(20-int(now)+int(by), 19)), 0, 0)
	}
	return errno
}

// become takes the user and group of the command, and no others.
//
//go:nosplit
//go:norace
//go:nocheckptr
func become(c *Command) syscall.Errno {
	uid, gid := uintptr(c.UID), uintptr(c.GID)
	_, errno := call(unix.SYS_SETGROUPS, 0, uintptr(unsafe.Pointer(&noMembers)), 0, 0, 0)
	if errno == 0 {
		_, errno = call(unix.SYS_SETRESGID, gid, gid, gid, 0, 0)
	}
	if errno == 0 {
		_, errno = call(unix.SYS_SETRESUID, uid, uid, uid, 0, 0)
	}
	return errno
}

// forbidUnix adds a filter that forbids to make Unix sockets.
//
//go:nosplit
//go:norace
//go:nocheckptr
func forbidUnix() syscall.Errno {
	_, errno := call(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&noUnixs)), 0, 0)
	return errno
}
