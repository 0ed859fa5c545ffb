//go:build amd64 || arm64

package zygote

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// nodeFd is the socket to the node, which the forker has at the same place.
const nodeFd = controlFd

// init makes a process that was started as a zygote one, before anything else of the program runs.
func init() {
	if len(os.Args) == 1 && os.Args[0] == Name {
		serve()
		syscall.Exit(0) // the race detector would wait for a second
	}
}

func serve() {
	runtime.LockOSThread() // what is forked inherits from this thread, which has to be there as long as the process
	syscall.CloseOnExec(nodeFd)
	// what the node's parent left open is not for commands
	_ = unix.CloseRange(nodeFd+1, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	unix.Umask(0o022)
	setup, err := welcome()
	if err == nil {
		err = setup.apply()
	}
	pid := 0
	if err == nil {
		pid, err = startForker()
	}
	var ready Ready
	if err != nil {
		ready.Err, ready.Denied, ready.Old = err.Error(), errors.Is(err, os.ErrPermission), errors.Is(err, unix.ENOSYS)
	}
	text, _ := json.Marshal(ready)
	if unix.Send(nodeFd, text, unix.MSG_NOSIGNAL) != nil || err != nil {
		return
	}
	unix.Close(nodeFd) // the node sees the forker's end
	for {
		if ended, err := unix.Wait4(-1, nil, 0, nil); err != nil && err != unix.EINTR || ended == pid {
			return // and all boxes with it, whose PID namespaces are in that of this process
		}
	}
}

// startForker forks the process that serves the node.
func startForker() (pid int, err error) {
	// Whoever stops the node by a signal to all its processes stops it alone: tasks go on for as long as it lets them.
	signal.Notify(make(chan os.Signal, 1), unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT)
	role = roleForker
	old := block()
	pid, errno := fork(0)
	unblock(old)
	if errno != 0 {
		return 0, fmt.Errorf("fork: %w", errno)
	}
	return pid, nil
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

func welcome() (s Setup, err error) {
	text := make([]byte, MaxRequest)
	n, err := unix.Read(nodeFd, text)
	if err == nil {
		err = json.Unmarshal(text[:n], &s)
	}
	return s, err
}

// apply makes everything that boxes have in common. The filter concerns this thread, and what is forked from it.
// Ambient capabilities are cleared for what is executed from it; the others a stub needs, and a command loses them by
// its exec or its user.
func (s *Setup) apply() error {
	if !s.Boxes {
		bare = true
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("set no_new_privs: %w", err)
		}
		return forkLittle()
	}
	if err := s.makeTree(); err != nil {
		return err
	}
	if err := s.publish(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("clear ambient capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	if err := install(s.Filter); err != nil {
		return err
	}
	return forkLittle()
}

// publish puts what forks need into global variables.
func (s *Setup) publish() error {
	cookie, users = s.Cookie, s.Users
	copy(uidMap[:len(uidMap)-1], fmt.Sprintf("%d %d 1\n", s.UID, s.UID))
	copy(gidMap[:len(gidMap)-1], fmt.Sprintf("%d %d 1\n", s.GID, s.GID))
	handled = landlockAttr{fs: s.Landlock.Handled, scoped: s.Landlock.Scoped}
	if len(s.Landlock.Rules) > maxRules {
		return fmt.Errorf("%d folders are to be writable: want at most %d", len(s.Landlock.Rules), maxRules)
	}
	for i, r := range s.Landlock.Rules {
		if len(r.Path) >= len(rules[i].path) {
			return fmt.Errorf("path %s: %d bytes: want fewer than %d", r.Path, len(r.Path), len(rules[i].path))
		}
		rules[i].rights = r.Rights
		copy(rules[i].path[:], r.Path)
	}
	ruled = len(s.Landlock.Rules)
	forbidUnixSockets()
	return nil
}

// forbidUnixSockets fills in the filter for commands that could reach abstract sockets of the machine. Other
// architectures are forbidden already; of the arguments the kernel looks at the lower half. Pairs of sockets are let be
// but for those of datagrams, which may send to any address.
func forbidUnixSockets() {
	const family, kind = 16, 24 // where the first two arguments begin
	noUnix = [...]unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_SOCKET, Jf: 2},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: family},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.AF_UNIX, Jt: 5, Jf: 6},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_SOCKETPAIR, Jf: 5},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: kind},
		{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: 0xf}, // without SOCK_CLOEXEC and SOCK_NONBLOCK
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SOCK_STREAM, Jt: 2},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SOCK_SEQPACKET, Jt: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	noUnixs = unix.SockFprog{Len: uint16(len(noUnix)), Filter: &noUnix[0]}
}

// install puts this thread under the filter.
func install(program []Instruction) error {
	if len(program) == 0 {
		return nil
	}
	filter := make([]unix.SockFilter, len(program))
	for i, x := range program {
		filter[i] = unix.SockFilter{Code: x.Op, Jt: x.Jt, Jf: x.Jf, K: x.K}
	}
	p := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0,
		uintptr(unsafe.Pointer(&p))); errno != 0 {
		return fmt.Errorf("filter system calls: %w", errno)
	}
	return nil
}
