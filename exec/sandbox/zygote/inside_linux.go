//go:build amd64 || arm64

package zygote

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// keepFds puts the descriptors that came with the request where a stub has them, and closes all others: the standard
// streams of the command, the control socket, and behind that the program and the control groups.
//
//go:nosplit
//go:norace
func keepFds() {
	for i := range arrived { // out of the way first: what came may have any number
		fd, _ := call(unix.SYS_FCNTL, uintptr(received[i]), unix.F_DUPFD_CLOEXEC, 100, 0, 0)
		received[i] = int32(fd)
	}
	arrived--
	call(unix.SYS_DUP3, uintptr(received[arrived]), controlFd, unix.O_CLOEXEC, 0, 0)
	for i := range arrived {
		fd := i
		if i >= controlFd {
			fd++
		}
		call(unix.SYS_DUP3, uintptr(received[i]), uintptr(fd), unix.O_CLOEXEC, 0, 0)
		received[i] = int32(fd)
	}
	closeFds(uintptr(arrived+1), lastFd)
}

const lastFd = 1<<31 - 1

//go:nosplit
//go:norace
func closeFds(first, last uintptr) { call(unix.SYS_CLOSE_RANGE, first, last, 0, 0, 0) }

// furnish makes this process the first of a box: with its own view of processes, files and network.
//
//go:nosplit
//go:norace
func furnish(r *Request) (Stage, syscall.Errno) {
	if users {
		if errno := mapUser(); errno != 0 {
			return StageMap, errno
		}
	}
	if errno := joinGroups(r); errno != 0 {
		return StageCgroup, errno
	}
	if errno := overwrite(text("/proc/self/oom_score_adj\x00"), at(r, r.Command.OOM)); errno != 0 {
		return StageOOM, errno
	}
	if stage, errno := mountOwn(r); errno != 0 {
		return stage, errno
	}
	if r.Flags&FlagNetwork != 0 {
		if errno := loopbackUp(); errno != 0 {
			return StageNetwork, errno
		}
	}
	// From here on nobody can trace this process or open what /proc tells of it.
	call(unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	return 0, 0
}

// mapUser maps the user of the node to itself in the user namespace of the box.
//
//go:nosplit
//go:norace
//go:nocheckptr
func mapUser() syscall.Errno {
	errno := overwrite(text("/proc/self/setgroups\x00"), text("deny\x00"))
	if errno == 0 {
		errno = overwrite(text("/proc/self/uid_map\x00"), unsafe.Pointer(&uidMap))
	}
	if errno == 0 {
		errno = overwrite(text("/proc/self/gid_map\x00"), unsafe.Pointer(&gidMap))
	}
	return errno
}

// joinGroups moves this process into the control groups whose cgroup.procs came with the request.
//
//go:nosplit
//go:norace
func joinGroups(r *Request) syscall.Errno {
	first := 3
	if r.Flags&FlagExecFile != 0 {
		first++
	}
	last := arrived
	if r.Flags&FlagJoin != 0 {
		last -= sharedFds
	}
	if r.Flags&FlagSecrets != 0 {
		last--
	}
	for i := first; i < last; i++ {
		if _, errno := call(unix.SYS_WRITE, uintptr(received[i]), uintptr(text("0")), 1, 0, 0); errno != 0 {
			return errno
		}
	}
	return 0
}

// mountOwn mounts what is the box's own: the two folders of the attempt, each alone, so that what they lie in is not
// the task's to change; then, over what the tree has in its place, processes, shared memory, which covers the folder of
// all attempts, and terminals.
//
//go:nosplit
//go:norace
func mountOwn(r *Request) (Stage, syscall.Errno) {
	const flags = unix.MS_NOSUID | unix.MS_NODEV
	proc, tmpfs, devpts := text("proc\x00"), text("tmpfs\x00"), text("devpts\x00")
	if r.Flags&FlagHold == 0 {
		if errno := mount(at(r, r.Work), text(Work+"\x00"), nil, unix.MS_BIND, nil); errno != 0 {
			return StageFolder, errno
		}
		if errno := mount(at(r, r.Temp), text(Temp+"\x00"), nil, unix.MS_BIND, nil); errno != 0 {
			return StageFolder, errno
		}
	}
	if errno := mountHosts(r); errno != 0 {
		return StageHosts, errno
	}
	if errno := putSecrets(r); errno != 0 {
		return StageSecrets, errno
	}
	// Read-only, or a task could take back what oom_score_adj says of it.
	if errno := mount(proc, text("/proc\x00"), proc, flags|unix.MS_NOEXEC|unix.MS_RDONLY, nil); errno != 0 {
		return StageProc, errno
	}
	if r.Flags&FlagJoin != 0 {
		if errno := mountShared(); errno != 0 {
			return StageShm, errno
		}
	} else if errno := mount(tmpfs, text("/dev/shm\x00"), tmpfs, flags, at(r, r.Shm)); errno != 0 {
		return StageShm, errno
	}
	const pts = "newinstance,ptmxmode=0666,mode=0620\x00"
	if errno := mount(devpts, text("/dev/pts\x00"), devpts, unix.MS_NOSUID|unix.MS_NOEXEC, text(pts)); errno != 0 {
		return StageTerminals, errno
	}
	return StageDevices, withhold(r)
}

// withhold covers the devices that the box does not get.
//
//go:nosplit
//go:norace
//go:nocheckptr
func withhold(r *Request) syscall.Errno {
	device := at(r, r.Devices)
	for range r.DeviceCount {
		if errno := mount(text(Withheld+"\x00"), device, nil, unix.MS_BIND, nil); errno != 0 {
			return errno
		}
		device = unsafe.Add(device, length(device)+1)
	}
	return 0
}

// mount mounts with the cookie, without which the filter forbids it.
//
//go:nosplit
//go:norace
func mount(source, target, kind unsafe.Pointer, flags uintptr, data unsafe.Pointer) syscall.Errno {
	_, _, errno := syscall.RawSyscall6(unix.SYS_MOUNT, uintptr(source), uintptr(target), uintptr(kind), flags,
		uintptr(data),
		uintptr(cookie))
	return errno
}

// interfaceRequest is a struct ifreq.
type interfaceRequest struct {
	name  [unix.IFNAMSIZ]byte
	flags uint16
	_     [22]byte
}

var loopback = interfaceRequest{name: [unix.IFNAMSIZ]byte{'l', 'o'}, flags: unix.IFF_UP}

//go:nosplit
//go:norace
//go:nocheckptr
func loopbackUp() syscall.Errno {
	fd, errno := call(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0, 0, 0)
	if errno == 0 {
		_, errno = call(unix.SYS_IOCTL, fd, unix.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&loopback)), 0, 0)
		call(unix.SYS_CLOSE, fd, 0, 0, 0, 0)
	}
	return errno
}

// overwrite writes a text to a file of the kernel's; an empty one is not written.
//
//go:nosplit
//go:norace
//go:nocheckptr
func overwrite(path, content unsafe.Pointer) syscall.Errno {
	n := length(content)
	if n == 0 {
		return 0
	}
	fd, errno := call(unix.SYS_OPENAT, atCwd, uintptr(path), unix.O_WRONLY|unix.O_CLOEXEC, 0, 0)
	if errno == 0 {
		_, errno = call(unix.SYS_WRITE, fd, uintptr(content), n, 0, 0)
		call(unix.SYS_CLOSE, fd, 0, 0, 0, 0)
	}
	return errno
}

// length is that of a text without the zero byte at its end.
//
//go:nosplit
//go:norace
//go:nocheckptr
func length(text unsafe.Pointer) (n uintptr) {
	for *(*byte)(unsafe.Add(text, n)) != 0 {
		n++
	}
	return n
}

const atCwd = ^uintptr(99) // AT_FDCWD, −100

// at is the address of a text of a request.
//
//go:nosplit
//go:norace
//go:nocheckptr
func at(r *Request, t Text) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(r), t) }

// asked is the request under way.
//
//go:nosplit
//go:norace
//go:nocheckptr
func asked() *Request { return (*Request)(unsafe.Pointer(&request)) }
