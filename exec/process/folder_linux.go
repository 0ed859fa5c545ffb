package process

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// permit lets this user into a folder of its own. The mode is changed by a descriptor of just that folder, so that a
// link in its place is not followed.
func permit(parent int, name string) error {
	if os.Geteuid() == 0 {
		return nil
	}
	fd, err := unix.Openat(parent, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), 0o700)
}

// renameNew renames a folder to a name that is not there. os.Rename looks first.
func renameNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if err == unix.ENOSYS || err == unix.EINVAL { // of a file system that cannot
		return os.Rename(from, to)
	}
	return err
}

// topFolder is EXT4_TOPDIR_FL [3], as `chattr +T` sets it.
const topFolder = 0x20000

// spread lets ext4 spread the folders in dir over its groups, where it looks for a free inode from the first on, past
// each one that was freed in the last five seconds. It is a hint.
func spread(dir string) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	var fs unix.Statfs_t
	if unix.Fstatfs(fd, &fs) != nil || fs.Type != unix.EXT4_SUPER_MAGIC {
		return
	}
	if flags, err := unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS); err == nil {
		unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, int(flags|topFolder))
	}
}

// inputRoom is how much a pipe for a task's standard input takes before its task reads: some messages from a peer, so
// that neither end waits for the other at each.
const inputRoom = 256 << 10

// enlarge makes a pipe take more. The kernel may refuse it to a user who has many: then it stays as it is.
func enlarge(f *os.File) {
	c, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, inputRoom) })
}
