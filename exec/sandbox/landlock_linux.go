//go:build amd64 || arm64

package sandbox

import (
	"golang.org/x/sys/unix"

	"skep/exec/sandbox/zygote"
)

// Landlock is the second wall [2]: should a box have a hole, a task still cannot write outside the places that are its
// own, signal a process outside or talk to its abstract sockets. What the first wall does alone is to keep it from
// reading: a rule about reading costs each open(2) of a file an eighth of its time.
const (
	landlockWrites = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
	landlockDevices = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK // for nobody

	landlockScopes = 6 // the version that knows signals and abstract sockets
	landlockSocket = 9 // the version that knows sockets with a path
)

// landlockVersion is what the kernel offers, at most the version asked for; 0 is none.
func landlockVersion(most int) int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch {
	case errno != 0 || most < 0:
		return 0
	case most > 0:
		return min(int(v), most)
	}
	return int(v)
}

// landlock is what a version can do.
func landlock(version int, expose []Expose) (l zygote.Landlock) {
	if version == 0 {
		return l
	}
	l.Handled = landlockWrites
	if version >= 2 {
		l.Handled |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= landlockScopes {
		l.Scoped = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	if version >= landlockSocket {
		l.Handled |= unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
	}
	all := l.Handled &^ landlockDevices
	l.Rules = []zygote.Rule{{Path: zygote.Work, Rights: all}, {Path: zygote.Temp, Rights: all},
		{Path: "/dev/shm", Rights: all},
		{Path: "/dev", Rights: unix.LANDLOCK_ACCESS_FS_WRITE_FILE},
		{Path: "/proc", Rights: unix.LANDLOCK_ACCESS_FS_WRITE_FILE}}
	for _, e := range expose {
		rights := all
		if !isFolder(e.Path) {
			rights &= unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
		}
		if e.Writable {
			l.Rules = append(l.Rules, zygote.Rule{Path: e.Path, Rights: rights})
		}
	}
	return l
}
