//go:build amd64 || arm64

package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// note records a call, if it concerns the folder. The caller is blocked meanwhile.
func (r *recorder) note(c *notice) error {
	fd := int(int32(c.args[0]))
	switch c.nr {
	case unix.SYS_WRITE:
		if fd == 1 {
			b, err := r.read(c.args[1], int(c.args[2]))
			r.add(op{kind: said, text: strings.TrimSpace(string(b))})
			return err
		}
		return r.write(fd, r.offset(fd), c.args[1], int(c.args[2]))
	case unix.SYS_PWRITE64:
		return r.write(fd, int64(c.args[3]), c.args[1], int(c.args[2]))
	case unix.SYS_FTRUNCATE:
		if id, ok := r.open(fd); ok {
			r.add(op{kind: resized, file: id, size: int64(c.args[1])})
		}
	case unix.SYS_FSYNC, unix.SYS_FDATASYNC:
		if id, ok := r.open(fd); ok {
			r.add(op{kind: synced, file: id})
		}
	case unix.SYS_OPENAT:
		return r.made(fd, c.args[1], int(c.args[2]))
	case unix.SYS_MKDIRAT:
		return r.madeFolder(fd, c.args[1])
	case unix.SYS_RENAMEAT:
		return r.renamed(fd, c.args[1], int(int32(c.args[2])), c.args[3])
	case unix.SYS_UNLINKAT:
		return r.removed(fd, c.args[1])
	}
	return nil
}

func (r *recorder) add(o op) {
	r.j.ops = append(r.j.ops, o)
	r.live.name(o.changes)
}

func (r *recorder) write(fd int, off int64, at uint64, n int) error {
	id, ok := r.open(fd)
	if !ok {
		return nil
	}
	b, err := r.read(at, n)
	r.add(op{kind: written, file: id, off: off, data: b})
	return err
}

// link returns the path that a descriptor of the process is open on.
func (r *recorder) link(fd int) string {
	at := fmt.Sprintf("/proc/%d/fd/%d", r.pid, fd)
	if fd == unix.AT_FDCWD {
		at = fmt.Sprintf("/proc/%d/cwd", r.pid)
	}
	path, _ := os.Readlink(at)
	return path
}

// open returns the file or folder that a descriptor is open on; false if it is not in the folder, or has lost its name.
func (r *recorder) open(fd int) (id int, ok bool) {
	path := r.link(fd)
	if path == r.dir {
		return 0, true
	}
	if !strings.HasPrefix(path, r.dir+"/") {
		return 0, false
	}
	return r.live.lookup(r.dir, path)
}

func (r *recorder) offset(fd int) (at int64) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", r.pid, fd))
	fmt.Sscanf(string(b), "pos: %d", &at)
	return at
}

// place is a name in a folder, and the file that has it.
type place struct {
	folder int
	name   string
	file   int // -1 = nothing
}

// at finds the place of a path; false if it is not in the folder.
func (r *recorder) at(fd int, name uint64) (p place, ok bool, err error) {
	path, err := r.text(name)
	if err != nil {
		return p, false, err
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.link(fd), path)
	}
	path = filepath.Clean(path)
	if !strings.HasPrefix(path, r.dir+"/") {
		return p, false, nil
	}
	folder, ok := r.live.lookup(r.dir, filepath.Dir(path))
	p = place{folder: folder, name: filepath.Base(path), file: -1}
	if id, there := r.live.names[folder][p.name]; there {
		p.file = id
	}
	return p, ok, nil
}

func (r *recorder) made(fd int, name uint64, flags int) error {
	if flags&(unix.O_CREAT|unix.O_TRUNC) == 0 {
		return nil
	}
	p, ok, err := r.at(fd, name)
	switch {
	case err != nil || !ok:
		return err
	case p.file < 0 && flags&unix.O_CREAT != 0:
		r.create(p, false)
	case p.file >= 0 && flags&unix.O_TRUNC != 0:
		r.add(op{kind: resized, file: p.file})
	}
	return nil
}

func (r *recorder) madeFolder(fd int, name uint64) error {
	p, ok, err := r.at(fd, name)
	if ok && p.file < 0 {
		r.create(p, true)
	}
	return err
}

func (r *recorder) create(p place, folder bool) {
	r.j.folders = append(r.j.folders, folder)
	r.live.folders = r.j.folders
	r.add(op{kind: named, changes: []change{{p.folder, p.name, len(r.j.folders) - 1}}})
}

func (r *recorder) renamed(fromFD int, from uint64, toFD int, to uint64) error {
	p, ok, err := r.at(fromFD, from)
	if err != nil || !ok || p.file < 0 {
		return err
	}
	q, ok, err := r.at(toFD, to)
	if err == nil && !ok {
		err = fmt.Errorf("%s leaves the folder", p.name)
	}
	if err == nil {
		r.add(op{kind: named, changes: []change{{p.folder, p.name, -1}, {q.folder, q.name, p.file}}})
	}
	return err
}

func (r *recorder) removed(fd int, name uint64) error {
	p, ok, err := r.at(fd, name)
	if ok && p.file >= 0 && len(r.live.names[p.file]) == 0 {
		r.add(op{kind: named, changes: []change{{p.folder, p.name, -1}}})
	}
	return err
}
