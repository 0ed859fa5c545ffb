package disk

import (
	"os"

	"golang.org/x/sys/unix"

	"skep/grid"
)

// Usage is what a folder takes with all in it.
type Usage struct {
	Bytes      grid.Bytes // of disk
	Files      int64      // and folders, each an inode
	Deep       bool       // it is nested more deeply than can be looked at
	Unreadable bool       // there is a folder in it that cannot be looked into
}

// maxDepth is how many folders inside each other are looked at, each of which is open meanwhile.
const maxDepth = 128

// Used measures a folder, of which it looks at most names. What goes away meanwhile does not count. It goes by open folders, so that
// neither long paths nor links mislead it. A folder of this user's that its mode keeps this user from is permitted for as long as it
// is looked at.
func Used(dir string, most int) (u Usage) {
	u.folder(unix.AT_FDCWD, dir, &most, 0)
	return u
}

// folder adds what is in the folder of a name, and how much the names in it take.
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

// access is what it takes to list a folder, and to look at what is in it.
const access = 0o500

// openFolder opens a folder to look at all in it. Afterwards restore gives it the mode that it had.
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
		if before&access != access && unix.Fstat(fd, &now) == nil && uint32(now.Mode)&0o7777 == before|access { // else its owner has changed it
			_ = unix.Fchmod(fd, before)
		}
	}, nil
}
