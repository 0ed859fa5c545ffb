//go:build unix

package process

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"skep/exec/progress"
)

// maxSpares bounds the emptied folders that are kept: as many as attempts begin and end at a time.
const maxSpares = 64

// spares are emptied folders of attempts, to be used again: making a folder, on a file system from which many have just
// been removed, costs as much as a short task. Only what no task can change is used again. The folders in it are new
// ones, made before there is an attempt that would wait for it.
type spares struct {
	dir string

	mu    sync.Mutex
	free  []string
	taken int // are made ready
	named uint64
}

// open empties the folder of spares. Where that cannot be had there are none.
func (s *spares) open(dir string) {
	if removeTree(dir) != nil || os.MkdirAll(dir, 0o711) != nil {
		return
	}
	spread(dir)
	s.dir = dir
}

// take makes the folder of an attempt, of a spare one if there is any: then the folders in it are there. One that is
// there stays.
func (s *spares) take(dir string, mode fs.FileMode) (furnished bool, err error) {
	spare, furnished := s.get(mode)
	if spare != "" {
		if renameNew(spare, dir) == nil {
			return furnished, nil
		}
		removeTree(spare)
	}
	return false, os.MkdirAll(dir, mode) // it is there, or what it is to lie in is not, or is on another file system
}

// get returns the path of a spare folder, which may be new, and empty; "" = there is none.
func (s *spares) get(mode fs.FileMode) (path string, furnished bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == "" {
		return "", false
	}
	if n := len(s.free); n > 0 {
		path := s.free[n-1]
		s.free = s.free[:n-1]
		return path, true
	}
	path = s.name()
	if os.Mkdir(path, mode) != nil {
		return "", false
	}
	return path, false
}

// name is a new one; the lock is held.
func (s *spares) name() string {
	s.named++
	return filepath.Join(s.dir, strconv.FormatUint(s.named, 10))
}

// recycle empties the folder of an attempt that has left nothing in the folders in it, as most do, and takes it. It
// reports whether it did; if not, some of it may be left. It makes a third of the system calls of emptyTree and keep.
// For folders only that no task can change: nothing here is looked at before it is removed by its name.
func (s *spares) recycle(dir string) bool {
	top, err := openFolder(dir)
	if err != nil {
		return false
	}
	defer unix.Close(top)
	for _, x := range [...]struct {
		name  string
		flags int
	}{{tempName + "/" + progress.Name, 0}, {tempName, unix.AT_REMOVEDIR}, {workName, unix.AT_REMOVEDIR}} {
		if err := unix.Unlinkat(top, x.name, x.flags); err != nil && err != unix.ENOENT {
			return false
		}
	}
	return s.put(top, dir)
}

// keep takes the empty folder of an attempt, and reports whether there is room for it.
func (s *spares) keep(dir string) bool {
	top, err := openFolder(dir)
	if err != nil {
		return false
	}
	defer unix.Close(top)
	return s.put(top, dir)
}

func openFolder(dir string) (int, error) {
	return unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

// put takes an open folder, and reports whether there is room for it.
func (s *spares) put(top int, dir string) bool {
	s.mu.Lock()
	if s.dir == "" || len(s.free)+s.taken == maxSpares {
		s.mu.Unlock()
		return false
	}
	spare := s.name()
	s.taken++
	s.mu.Unlock()
	moved := renameNew(dir, spare) == nil
	ready := moved && furnish(top, spare)
	if moved && !ready {
		removeTree(spare)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	switch {
	case ready && s.dir != "":
		s.free = append(s.free, spare)
	case ready: // closed meanwhile
		removeTree(spare)
	}
	return moved
}

// furnish makes the folders in a spare one that is open, and reports whether there is nothing else in it: what a task
// left there, which a rename would not tell, must not reach another one.
func furnish(top int, spare string) bool {
	for _, name := range [...]string{workName, tempName} {
		if unix.Mkdirat(top, name, 0o700) != nil {
			return false
		}
	}
	_ = progress.Make(filepath.Join(spare, tempName), 0, 0) // else its task is not asked
	for buf := make([]byte, 1024); ; {
		names, err := readNames(top, buf)
		if err != nil || len(names) == 0 {
			return err == nil
		}
		for _, name := range names {
			if name != workName && name != tempName {
				return false
			}
		}
	}
}

// close removes them.
func (s *spares) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir != "" {
		removeTree(s.dir)
	}
	s.dir, s.free = "", nil
}

// readNames returns the next names in an open folder; none = there are no more. An os.File would take four more system
// calls for it.
func readNames(folder int, buf []byte) (names []string, err error) {
	for {
		n, err := unix.ReadDirent(folder, buf)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil || n <= 0:
			return nil, err
		}
		if _, _, names = unix.ParseDirent(buf[:n], -1, nil); len(names) > 0 { // not . and .. alone
			return names, nil
		}
	}
}
