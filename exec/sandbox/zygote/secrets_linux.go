//go:build amd64 || arm64

package zygote

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Secrets of a box are files in memory that only its task's user may read. Their contents come in a file without a
// name, and the kernel copies them: they are never in the memory of the forker, which its forks have, nor of the stub.

// putSecrets makes the folder of the secrets, in a file system of its own, and the files.
//
//go:nosplit
//go:norace
//go:nocheckptr
func putSecrets(r *Request) syscall.Errno {
	if r.Flags&FlagSecrets == 0 {
		return 0
	}
	folder, tmpfs := text(Secrets+"\x00"), text("tmpfs\x00")
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	if errno := mount(tmpfs, folder, tmpfs, flags, text("mode=0755,size=1m,nr_inodes=16\x00")); errno != 0 {
		return errno
	}
	from := uintptr(arrived - 1)
	if r.Flags&FlagJoin != 0 {
		from -= sharedFds
	}
	path := at(r, r.SecretPaths)
	for i := range min(r.SecretCount, MaxSecrets) {
		errno := putSecret(r, path, uintptr(received[from&(maxFds-1)]), uintptr(r.SecretSizes[i]))
		if errno != 0 {
			return errno
		}
		path = unsafe.Add(path, length(path)+1)
	}
	call(unix.SYS_CLOSE, uintptr(received[from&(maxFds-1)]), 0, 0, 0, 0)
	return mount(nil, folder, nil, flags|unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, nil)
}

// putSecret makes one file of so many bytes, and gives it to the user of the command.
//
//go:nosplit
//go:norace
func putSecret(r *Request, path unsafe.Pointer, from, size uintptr) syscall.Errno {
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_CLOEXEC | unix.O_NOFOLLOW
	fd, errno := call(unix.SYS_OPENAT, atCwd, uintptr(path), flags, 0o400, 0)
	if errno != 0 {
		return errno
	}
	for size > 0 && errno == 0 {
		var n uintptr
		n, errno = call(unix.SYS_SENDFILE, fd, from, 0, size, 0)
		if n == 0 && errno == 0 {
			errno = syscall.EIO // the file is shorter than was said
		}
		size -= min(n, size)
	}
	if errno == 0 && r.Command.UID != 0 {
		_, errno = call(unix.SYS_FCHOWN, fd, uintptr(r.Command.UID), uintptr(r.Command.GID), 0, 0)
	}
	call(unix.SYS_CLOSE, fd, 0, 0, 0, 0)
	return errno
}
