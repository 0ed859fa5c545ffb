package process

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The three system calls of Landlock [1], raw: what wraps them elsewhere restricts all threads of the
// process, which here would be the node itself.

// Rights that a task may have on the files beneath a folder. A newer kernel knows more rights; known
// cuts the sets down to what this kernel has.
const (
	mayRead = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
	// Not among them: device nodes, since a root task could make itself one of the disk.
	mayWrite = mayRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_REFER
	mayUseDevice = mayWrite | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV

	ofFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_IOCTL_DEV | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
)

// landlockABI is the version that the kernel offers, 0 for none.
func landlockABI() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// known are the rights on files that a version of Landlock handles: the lowest bits, more each time.
func known(abi int) uint64 {
	bits := map[int]uint{1: 13, 2: 14, 3: 15, 4: 15, 5: 16, 6: 16, 7: 16, 8: 16}
	n, ok := bits[abi]
	if !ok {
		n = 17
	}
	return 1<<n - 1
}

// newRuleset makes an empty ruleset: everything that it handles is forbidden until a rule allows it.
// Signals and abstract sockets can be kept inside the task since version 6.
func newRuleset(abi int) (int, error) {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: known(abi)}
	size := unsafe.Sizeof(attr.Handled_access_fs)
	if abi >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
		size = unsafe.Offsetof(attr.Scoped) + unsafe.Sizeof(attr.Scoped)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return -1, fmt.Errorf("make Landlock ruleset: %w", errno)
	}
	return int(fd), nil
}

// allow adds the rights on the file or folder of the O_PATH descriptor.
func allow(ruleset, fd int, rights uint64) error {
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset),
		unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("add Landlock rule: %w", errno)
	}
	return nil
}

// restrictThread puts the calling thread, and what it forks from now on, under the ruleset. The
// thread must have no_new_privs.
func restrictThread(ruleset int) error {
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0); errno != 0 {
		return fmt.Errorf("restrict thread with Landlock: %w", errno)
	}
	return nil
}
