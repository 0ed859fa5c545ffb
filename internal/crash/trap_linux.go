//go:build amd64 || arm64

package crash

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// trapped are the calls that the recorder sees. What else changes files shows as a difference at the end.
var trapped = []uint32{
	unix.SYS_OPENAT, unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_FTRUNCATE, unix.SYS_FSYNC, unix.SYS_FDATASYNC,
	unix.SYS_MKDIRAT, unix.SYS_RENAMEAT, unix.SYS_UNLINKAT,
}

const (
	scriptVariable = "SKEP_CRASH_SCRIPT"
	folderVariable = "SKEP_CRASH_FOLDER"
	socket         = 3 // of the child: the listener goes there
)

// Main runs one of the scripts and ends the process, if this is the process that Record has started. TestMain calls it
// first.
func Main(scripts map[string]func(dir string) error) {
	script := scripts[os.Getenv(scriptVariable)]
	if script == nil {
		return
	}
	err := trap()
	if err == nil {
		err = script(os.Getenv(folderVariable))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "script:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// trap has each of the calls of this process wait for the recorder from now on.
func trap() error {
	code := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}} // the call's number
	for i, nr := range trapped {
		code = append(code, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: uint8(len(trapped) - i),
			K: nr})
	}
	code = append(code, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF})
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	const flags = unix.SECCOMP_FILTER_FLAG_TSYNC | unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH |
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
	fd, _, errno := syscall.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags,
		uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(code)
	if errno != 0 {
		return fmt.Errorf("filter calls: %w", errno)
	}
	if err := unix.Sendmsg(socket, []byte{0}, unix.UnixRights(int(fd)), nil, 0); err != nil {
		return fmt.Errorf("hand the filter over: %w", err)
	}
	return unix.Close(int(fd))
}
