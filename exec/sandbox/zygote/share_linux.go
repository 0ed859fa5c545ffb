//go:build amd64 || arm64

package zygote

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// Boxes share a network, System V objects and /dev/shm with one that holds these. It sends their handles to the node,
// which hands them to the forker with the request for each further box. A process between the forker and the stub
// enters the namespaces and forks the stub as the forker's child: the stub has a user namespace of its own, and so no
// right to, and the forker has none to return to the network that it is in, the machine's.

// sharedFds is how many descriptors OpShare sends: the network namespace, the IPC namespace, /dev/shm.
const sharedFds = 3

// What the process in between leaves, in the memory that it has in common with the forker.
var (
	joinFlags   uintptr
	joinedPid   int
	joinStage   Stage
	joinFailure syscall.Errno
)

// forkJoined forks a stub in the namespaces whose descriptors came with the request.
//
//go:nosplit
//go:norace
func forkJoined(flags uintptr) (pid int, stage Stage, errno syscall.Errno) {
	joinFlags, joinedPid, joinStage = flags|unix.CLONE_PARENT, 0, StageJoin
	joinFailure = syscall.EIO // if the process in between ends early
	role = roleJoiner
	between, errno := vfork()
	if errno != 0 {
		return 0, StageFork, errno
	}
	call(unix.SYS_WAIT4, uintptr(between), 0, 0, 0, 0)
	return joinedPid, joinStage, joinFailure
}

// joinerMain is the life of the process in between.
//
//go:nosplit
//go:norace
func joinerMain() {
	joinFailure = enterShared()
	if joinFailure == 0 {
		joinStage, role = StageFork, roleStub
		joinedPid, joinFailure = fork(joinFlags)
	}
	exit(0)
}

//go:nosplit
//go:norace
func enterShared() syscall.Errno {
	if arrived < 3+sharedFds+1 {
		return syscall.EINVAL
	}
	first := arrived - 1 - sharedFds
	errno := setns(received[first&(maxFds-1)], unix.CLONE_NEWNET)
	if errno == 0 {
		errno = setns(received[(first+1)&(maxFds-1)], unix.CLONE_NEWIPC)
	}
	return errno
}

//go:nosplit
//go:norace
func setns(fd int32, kind uintptr) syscall.Errno {
	_, errno := trusted(unix.SYS_SETNS, uintptr(fd), kind, 0, 0, 0)
	return errno
}

// trusted makes a system call with the cookie, without which the filter forbids it.
//
//go:nosplit
//go:norace
func trusted(trap, a, b, c, d, e uintptr) (uintptr, syscall.Errno) {
	r, _, errno := syscall.RawSyscall6(trap, a, b, c, d, e, uintptr(cookie))
	return r, errno
}

// mountShared mounts the shared memory that came with the request.
//
//go:nosplit
//go:norace
func mountShared() syscall.Errno {
	fd := received[(arrived-1)&(maxFds-1)]
	_, errno := trusted(unix.SYS_MOVE_MOUNT, uintptr(fd), uintptr(text("\x00")), atCwd, uintptr(text("/dev/shm\x00")),
		unix.MOVE_MOUNT_F_EMPTY_PATH)
	return errno
}

// mountHosts mounts the box's own /etc/hosts. The task must not write to it: the file is in no folder of its own.
//
//go:nosplit
//go:norace
func mountHosts(r *Request) syscall.Errno {
	if length(at(r, r.Hosts)) == 0 {
		return 0
	}
	hosts := text("/etc/hosts\x00")
	errno := mount(at(r, r.Hosts), hosts, nil, unix.MS_BIND, nil)
	if errno == 0 {
		const flags = unix.MS_REMOUNT | unix.MS_BIND | unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
		errno = mount(nil, hosts, nil, flags, nil)
	}
	return errno
}

// share sends what boxes that join this one need.
//
//go:nosplit
//go:norace
func share() {
	found := 0
	errno := find(&found, text("/proc/self/ns/net\x00"), unix.O_RDONLY)
	if errno == 0 {
		errno = find(&found, text("/proc/self/ns/ipc\x00"), unix.O_RDONLY)
	}
	if errno == 0 {
		var fd uintptr
		fd, errno = trusted(unix.SYS_OPEN_TREE, atCwd, uintptr(text("/dev/shm\x00")),
			unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC, 0, 0)
		if errno == 0 {
			ancillary.fds[found&7] = int32(fd)
			found++
		}
	}
	answer(errno, found)
}

// makeSocket makes a socket in the network of the box and sends it: it stays in that network wherever it is used. The
// node binds and connects it, and has the right to from outside.
//
//go:nosplit
//go:norace
func makeSocket(r *Request) {
	fd, errno := call(unix.SYS_SOCKET, uintptr(r.Family), uintptr(r.SocketType)|unix.SOCK_CLOEXEC,
		uintptr(r.SocketProtocol), 0, 0)
	if errno != 0 {
		answer(errno, 0)
		return
	}
	ancillary.fds[0] = int32(fd)
	answer(0, 1)
}

// openTUN opens a TUN device, which belongs to the network of the process that opens it, and a socket for the settings
// of that network. What is made with them the node decides, from outside.
//
//go:nosplit
//go:norace
func openTUN() {
	if arrived != 1 {
		answer(syscall.EINVAL, 0)
		return
	}
	fd, errno := call(unix.SYS_OPENAT, uintptr(received[0]), uintptr(text("tun\x00")),
		unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0, 0)
	if errno != 0 {
		answer(errno, 0)
		return
	}
	ancillary.fds[0] = int32(fd)
	fd, errno = call(unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE, 0, 0)
	if errno != 0 {
		answer(errno, 1)
		return
	}
	ancillary.fds[1] = int32(fd)
	answer(0, 2)
}
