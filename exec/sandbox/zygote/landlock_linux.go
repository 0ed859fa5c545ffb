//go:build amd64 || arm64

package zygote

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// landlockAttr is a struct landlock_ruleset_attr, landlockRule a struct landlock_path_beneath_attr with its path.
type landlockAttr struct{ fs, net, scoped uint64 }

type landlockRule struct {
	rights uint64
	path   [256]byte
}

// beneath is a struct landlock_path_beneath_attr, which is packed.
type beneath struct{ low, high, fd uint32 }

//go:nosplit
//go:norace
//go:nocheckptr
func makeRuleset() syscall.Errno {
	size := unsafe.Sizeof(handled)
	if handled.scoped == 0 {
		size = unsafe.Sizeof(handled.fs)
	}
	set, errno := call(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&handled)), size, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	ruleset, confined = set, true
	for i := range ruled {
		r := &rules[i]
		fd, errno := call(unix.SYS_OPENAT, atCwd, uintptr(unsafe.Pointer(&r.path)), unix.O_PATH|unix.O_CLOEXEC, 0, 0)
		if errno != 0 {
			return errno
		}
		b := beneath{uint32(r.rights), uint32(r.rights >> 32), uint32(fd)}
		_, errno = call(unix.SYS_LANDLOCK_ADD_RULE, set, unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&b)), 0, 0)
		call(unix.SYS_CLOSE, fd, 0, 0, 0, 0)
		if errno != 0 {
			return errno
		}
	}
	return 0
}
