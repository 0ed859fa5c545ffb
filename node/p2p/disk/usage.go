package disk

import (
	"os"

	"golang.org/x/sys/unix"

	"skep/grid"
)

// Usage is the disk usage of a folder and all in it.
type Usage struct {
	Bytes      grid.Bytes // of disk
	Files      int64      // and folders, each an inode
	Deep       bool       // it is nested more deeply than maxDepth
	Unreadable bool       // a folder in it could not be read
}

// maxDepth bounds the nesting that is measured; each folder on the path is open meanwhile.
const maxDepth = 128

// Used measures a folder, at most so many names in it. Files removed meanwhile do not count. It walks by open
// folders, so that neither long paths nor links mislead it. A folder of this user whose mode denies access is made
// listable while it is measured.
func Used(dir string, most int) (u Usage) {
	u.folder(unix.AT_FDCWD, dir, &most, 0)
	return u
}

// folder adds the contents of a folder.
func (u *Usage) folder(parent int, name string, most *int, depth int) {
	f, restore, err := openFolder(parent, name)
	if err != nil {
		u.Unreadable = u.Unreadable || err == unix.EACCES || err == unix.EPERM
		return
	}
	defer f.Close()
	defer restore()
	at := int(f.Fd())
	for *most > 0 {
		names, err := f.Readdirnames(1024)
		for _, name := range names {
			var st unix.Stat_t
			if err := unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
				u.Unreadable = u.Unreadable || err == unix.EACCES
				continue
			}
			*most--
			u.Files++
			u.Bytes += grid.Bytes(st.Blocks) * 512
			if st.Mode&unix.S_IFMT != unix.S_IFDIR {
				continue
			}
			if depth >= maxDepth {
				u.Deep = true
				continue
			}
			u.folder(at, name, most, depth+1)
		}
		if err != nil {
			return
		}
	}
}

// access is the mode that allows listing a folder and reading the status of its files.
const access = 0o500

// openFolder opens a folder, changing its mode if need be; restore sets the former mode again.
func openFolder(parent int, name string) (f *os.File, restore func(), err error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	before := uint32(access)
	fd, err := unix.Openat(parent, name, flags, 0)
	if err == unix.EACCES {
		if before, err = makeListable(parent, name); err == nil {
			fd, err = unix.Openat(parent, name, flags, 0)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	var st unix.Stat_t
	if os.Geteuid() != 0 && unix.Fstat(fd, &st) == nil && uint32(st.Mode)&access != access {
		before = uint32(st.Mode) & 0o7777
		if err := unix.Fchmod(fd, before|access); err != nil {
			unix.Close(fd)
			return nil, nil, err
		}
	}
	return os.NewFile(uintptr(fd), name), func() {
		var now unix.Stat_t
		// else its owner has changed it
		if before&access != access && unix.Fstat(fd, &now) == nil && uint32(now.Mode)&0o7777 == before|access {
			_ = unix.Fchmod(fd, before)
		}
	}, nil
}
